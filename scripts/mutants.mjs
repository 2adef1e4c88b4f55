// npm run mutants: removes one guard at a time in a copy of the project, and expects a test to fail.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { problemOf } from './mutants/apply.mjs';
import { runTests } from './mutants/run-tests.mjs';
import { cannotRun, startServers } from './mutants/servers.mjs';
import { MUTANTS } from './mutants/table.mjs';
import { copyTree } from './mutants/tree.mjs';
import { tryMutant } from './mutants/try-mutant.mjs';
import { problemBefore } from './mutants/verdict.mjs';

const HELP = `Removes one guard at a time in a copy of the project, and expects a test to fail.

npm run mutants                    all of them; fails when one survives
npm run mutants -- --only NAME     one of them, and more with further --only
npm run mutants -- --list          what they are
npm run mutants -- --help

The tables are in scripts/mutants. A mutant that survives shows a guard that no test holds: write that test.`;

const OPTIONS = {
  only: { type: 'string', multiple: true },
  list: { type: 'boolean' },
  help: { type: 'boolean' },
};

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({ options: OPTIONS });
const unknown = (values.only ?? []).filter((name) => !MUTANTS.some((mutant) => mutant.name === name));

// What was started ends with this process, and what was copied goes with it, also when it is told to stop.
let stopServers = async () => {};
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopServers().finally(() => process.exit(1)));

if (values.help) console.log(HELP);
else if (values.list) for (const { name, guard, file } of MUTANTS) console.log(`${name.padEnd(36)} ${guard} (${file})`);
else if (unknown.length > 0) fail([`There is no mutant called ${unknown.join(', ')}. --list tells which there are.`]);
else await main(values.only ? MUTANTS.filter(({ name }) => values.only.includes(name)) : MUTANTS);

function fail(messages) {
  for (const message of messages) console.error(message);
  process.exit(1);
}

async function main(chosen) {
  const begun = performance.now();
  const wrong = chosen.flatMap((mutant) => {
    const problem = problemOf(root, mutant);
    return problem === undefined ? [] : [`${mutant.name}: ${problem}`];
  });
  if (wrong.length > 0) fail(wrong);
  const mutants = chosen.filter((mutant) => !cannotRun(mutant));
  if (mutants.length < chosen.length) console.log(`${chosen.length - mutants.length} left out: they need Java 17.`);
  const trees = Array.from({ length: Math.min(availableParallelism(), mutants.length) }, () => copyTree(root));
  const { env, stop } = await startServers(mutants);
  stopServers = stop;
  try {
    const results = await tryAll(trees, mutants, env);
    const count = (kind) => results.filter((result) => result.kind === kind).length;
    const counts = `${count('killed')} killed, ${count('survived')} survived, ${count('broken')} broken`;
    const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
    console.log(`${results.length} mutants in ${minutes} minutes: ${counts}`);
    process.exitCode = count('killed') === results.length ? 0 : 1;
  } finally {
    await stop();
  }
}

/** First the tests as they are, all in one run; then each mutant by itself, one in each tree at a time. */
async function tryAll(trees, mutants, env) {
  const files = [...new Set(mutants.map(({ test }) => test))];
  const title = [...new Set(mutants.map((mutant) => `(?:${mutant.title})`))].join('|');
  const { report } = await runTests(trees[0], { files, title, env, workers: availableParallelism() });
  const results = [];
  const waiting = [...mutants];
  const work = async (tree) => {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      // What failed beside all the others may pass alone: then the mutant is tried, and it is shown that its test is unsteady.
      const why = problemBefore(report, mutant) && (await problemAlone(tree, mutant, env));
      const result = why === undefined ? await tryMutant(tree, mutant, env) : { kind: 'broken', why, seconds: 0 };
      results.push(result);
      tell(mutant, result);
    }
  };
  await Promise.all(trees.map(work));
  return results;
}

async function problemAlone(tree, mutant, env) {
  const { report } = await runTests(tree, { files: [mutant.test], title: mutant.title, env });
  const problem = problemBefore(report, mutant);
  if (problem === undefined) console.log(`UNSTEADY, to be mended: ${mutant.test} failed, and passed alone`);
  return problem;
}

function tell({ name, guard, test, title }, result) {
  const seconds = `${result.seconds.toFixed(1)} s`.padStart(7);
  const told = {
    killed: () => `by ${test}: ${result.by[0].title}`,
    survived: () => `no test of ${test} called '${title}' holds this guard: ${guard}`,
    broken: () => result.why,
  };
  console.log(`${result.kind.padEnd(8)} ${seconds}  ${name.padEnd(36)} ${told[result.kind]()}`);
}
