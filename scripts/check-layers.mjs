// Keeps the direction of dependencies, the size of files, and what layers/ says: no import cycles, no detour to a store.
// Prints every breach and exits 1 if there is one.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { checkCycles } from './layers/cycles.mjs';
import { isTest, sourcesOf } from './layers/sources.mjs';
import { checkStoreRules } from './layers/store-rules.mjs';

/** Which packages of ours a package may import. Only `waybill`, examples, bench and tests name a concrete store. */
const PACKAGES = {
  core: [],
  protocol: [],
  client: ['core', 'protocol'],
  sql: ['core'],
  aws: ['core'],
  server: ['core', 'client', 'protocol'],
  worker: ['core', 'client'],
  telemetry: ['core', 'worker'],
  agent: ['core', 'worker'],
  waybill: ['core', 'protocol', 'client', 'sql', 'aws', 'server', 'worker', 'telemetry', 'agent'],
};

/** Inside core: folders whose rules must stay free of everything around them. */
const CORE_FOLDERS = {
  job: ['job', 'events'],
  store: ['store', 'job', 'events', 'limits'],
};

const MAX_LINES = 400;
const GENERATED = /^packages\/(?:protocol\/src\/gen\/|waybill\/src\/config\/waybill-config\.ts$)/;
const VAGUE = /(^|\/)(utils?|common|helpers?|misc|types)(\/|\.ts$)/;

const problems = [];

function checkImport(name, file, specifier, dependencies) {
  const tell = (why) => problems.push(`${file}: imports '${specifier}', ${why}`);
  if (specifier.startsWith('.')) {
    if (!isTest(file) && /\/testing\//.test(path.join(path.dirname(file), specifier)))
      tell('but test helpers stay out of production code');
    if (name === 'core') checkInside(file, specifier, tell);
    return;
  }
  if (specifier.startsWith('node:')) return;
  const own = /^@waybill\/([a-z]+)(\/testing)?/.exec(specifier);
  if (own) {
    if (own[2] && !isTest(file)) tell('but test helpers stay out of production code');
    if (!isTest(file) && !PACKAGES[name].includes(own[1]))
      tell(`but ${name} may only use: ${PACKAGES[name].join(', ') || 'nothing of ours'}`);
    return;
  }
  const library = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  if (!isTest(file) && !dependencies.has(library)) tell('which is not among its dependencies');
}

function checkInside(file, specifier, tell) {
  const folderOf = (target) => path.relative('packages/core/src', target).split(path.sep);
  const [from] = folderOf(file);
  const [to, rest] = folderOf(path.join(path.dirname(file), specifier));
  const allowed = CORE_FOLDERS[from];
  if (allowed && rest !== undefined && !isTest(file) && !allowed.includes(to))
    tell(`but ${from}/ may only use: ${allowed.join(', ')}`);
}

for (const name of readdirSync('packages')) {
  if (!Object.hasOwn(PACKAGES, name))
    problems.push(`packages/${name}: is not in the table of scripts/check-layers.mjs`);
  const manifest = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8'));
  const dependencies = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
  for (const [dependency, range] of Object.entries(manifest.dependencies ?? {})) {
    if (!/^\d/.test(range))
      problems.push(`packages/${name}/package.json: '${dependency}' must have an exact version, not '${range}'`);
  }
  const sources = sourcesOf(`packages/${name}`);
  problems.push(...checkCycles(sources));
  for (const source of sources) {
    const { file, text, imports } = source;
    const lines = text.split('\n').length - 1;
    if (lines > MAX_LINES && !GENERATED.test(file))
      problems.push(`${file}: has ${lines} lines, more than ${MAX_LINES}`);
    if (VAGUE.test(file)) problems.push(`${file}: has a name that says nothing`);
    for (const specifier of imports) checkImport(name, file, specifier, dependencies);
    problems.push(...checkStoreRules(source));
  }
}

for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? 'Layers, imports and file sizes are in order.' : `${problems.length} problems.`);
process.exit(problems.length === 0 ? 0 : 1);
