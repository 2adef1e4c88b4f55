// Puts the SQL and the SQLite thread into the build of packages/sql, and the program of isolated modules into that of
// packages/worker, so that they need no file beside their modules: bundlers make one file of an application, and leave behind
// what is only read at run time. Runs after `tsc -b`.
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const packageOf = (name) => fileURLToPath(new URL(`../packages/${name}/`, import.meta.url));
const SQL = packageOf('sql');
const WORKER = packageOf('worker');

function textsOf(folder) {
  const place = path.join(SQL, 'src', folder);
  const names = readdirSync(place).filter((name) => name.endsWith('.sql'));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(path.join(place, name), 'utf8')]));
}

/** By a rename, because tests that run at the same time may be importing the file. */
function write(place, file, values) {
  const target = path.join(place, 'dist', file);
  const text = Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value, null, 2)};\n`)
    .join('');
  if (readFileSync(target, 'utf8') === text) return;
  writeFileSync(`${target}.${process.pid}`, text);
  renameSync(`${target}.${process.pid}`, target);
}

/** A program with all that it imports, as text: a thread takes that of a CommonJS script, Node also that of a module. */
async function textOf(entry, format) {
  const { outputFiles } = await build({
    entryPoints: [entry],
    ...{ bundle: true, write: false, platform: 'node', format, target: 'node22', logLevel: 'error' },
    // Names stay as they are, for stack traces.
    ...{ minifySyntax: true, minifyWhitespace: true, legalComments: 'none' },
    logOverride: { 'empty-import-meta': 'silent' },
  });
  return outputFiles[0].text;
}

export async function embed() {
  for (const store of ['sqlite', 'postgres']) {
    write(SQL, `${store}/embedded-sql.js`, {
      QUERIES: textsOf(`${store}/queries`),
      MIGRATIONS: textsOf(`${store}/migrations`),
    });
  }
  write(SQL, 'sqlite/embedded-thread.js', { THREAD: await textOf(path.join(SQL, 'dist/sqlite/thread.js'), 'cjs') });
  const child = path.join(WORKER, 'dist/isolate/child/main.js');
  write(WORKER, 'isolate/embedded-child.js', { CHILD: await textOf(child, 'esm') });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await embed();
