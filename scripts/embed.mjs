// Puts the SQL and the SQLite thread into the build of packages/sql, so that it needs no file beside its modules: bundlers
// make one file of an application, and leave behind what is only read at run time. Runs after `tsc -b`.
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const PACKAGE = fileURLToPath(new URL('../packages/sql/', import.meta.url));

function textsOf(folder) {
  const place = path.join(PACKAGE, 'src', folder);
  const names = readdirSync(place).filter((name) => name.endsWith('.sql'));
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(path.join(place, name), 'utf8')]));
}

/** By a rename, because tests that run at the same time may be importing the file. */
function write(file, values) {
  const target = path.join(PACKAGE, 'dist', file);
  const text = Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value, null, 2)};\n`)
    .join('');
  if (readFileSync(target, 'utf8') === text) return;
  writeFileSync(`${target}.${process.pid}`, text);
  renameSync(`${target}.${process.pid}`, target);
}

/** The thread with all that it imports, its SQL included: a worker takes the text of a CommonJS script. */
async function threadText() {
  const { outputFiles } = await build({
    entryPoints: [path.join(PACKAGE, 'dist/sqlite/thread.js')],
    ...{ bundle: true, write: false, platform: 'node', format: 'cjs', target: 'node22', logLevel: 'error' },
    // Names stay as they are, for stack traces.
    ...{ minifySyntax: true, minifyWhitespace: true, legalComments: 'none' },
    logOverride: { 'empty-import-meta': 'silent' },
  });
  return outputFiles[0].text;
}

export async function embed() {
  for (const store of ['sqlite', 'postgres']) {
    write(`${store}/embedded-sql.js`, {
      QUERIES: textsOf(`${store}/queries`),
      MIGRATIONS: textsOf(`${store}/migrations`),
    });
  }
  write('sqlite/embedded-thread.js', { THREAD: await threadText() });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await embed();
