// npm run bench -- --help
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { measure } from './measure.ts';
import { type BenchOptions, help, optionsOf } from './options.ts';
import { STORES } from './stores/index.ts';
import type { BenchStore } from './stores/store.ts';

async function main(options: BenchOptions, store: BenchStore): Promise<boolean> {
  const folder = mkdtempSync(path.join(process.env['WAYBILL_BENCH_DIR'] ?? tmpdir(), 'waybill-bench-'));
  // A server may run as another user, who must get to what is his inside.
  chmodSync(folder, 0o755);
  const { postgresUrl } = options;
  try {
    const host = await store.host(folder, postgresUrl === undefined ? {} : { postgresUrl });
    try {
      return await measure(options, store, host, folder);
    } finally {
      await host.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const stores = Object.fromEntries(
  await Promise.all(Object.entries(STORES).map(async ([name, load]) => [name, await load()] as const)),
);

function optionsOrExit(): BenchOptions {
  try {
    const options = optionsOf(process.argv.slice(2), stores);
    if (options !== 'help') return options;
    console.log(help(stores));
    process.exit(0);
  } catch (error) {
    console.error(`bench: ${(error as Error).message}\n\n${help(stores)}`);
    process.exit(2);
  }
}

const options = optionsOrExit();
try {
  if (!(await main(options, stores[options.store]!))) process.exitCode = 1;
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
