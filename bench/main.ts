// npm run bench -- --help
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runScript } from './child.ts';
import { type BenchOptions, help, optionsOf } from './options.ts';
import { tableOf } from './report.ts';
import type { Result } from './result.ts';
import { chosenOf, orderOf } from './rounds.ts';
import type { RunOrder } from './run-one.ts';
import { STORES } from './stores/index.ts';
import type { BenchStore, Host } from './stores/store.ts';

const RUN_ONE = fileURLToPath(new URL('./run-one.ts', import.meta.url));

async function runOne(order: RunOrder): Promise<Result> {
  const printed = await runScript(RUN_ONE, order);
  return JSON.parse(printed.trim().split('\n').at(-1)!) as Result;
}

async function measure(options: BenchOptions, { workloads }: BenchStore, host: Host): Promise<void> {
  const { store, systems: wanted, rounds, scale, json } = options;
  const { servers, missing } = host;
  // Beside the results, so that lines of JSON stay lines of JSON.
  for (const [system, why] of Object.entries(missing)) console.error(`${system} is left out: ${why}.`);
  for (const workload of options.workloads) {
    const { systems, yardstick } = workloads[workload]!;
    const chosen = chosenOf(Object.keys(systems), { wanted, missing });
    const results: Result[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const system of orderOf(chosen, round)) {
        const server = host.serverOf(system);
        const result = { ...(await runOne({ store, workload, system, scale, servers })), ...(server && { server }) };
        if (json) console.log(JSON.stringify(result));
        results.push(result);
      }
    }
    if (!json && results.length > 0) console.log(tableOf(workload, chosen, results, yardstick));
  }
}

async function main(options: BenchOptions, store: BenchStore): Promise<void> {
  const folder = mkdtempSync(path.join(process.env['WAYBILL_BENCH_DIR'] ?? tmpdir(), 'waybill-bench-servers-'));
  // A server may run as another user, who must get to what is his inside.
  chmodSync(folder, 0o755);
  const { postgresUrl } = options;
  try {
    const host = await store.host(folder, postgresUrl === undefined ? {} : { postgresUrl });
    try {
      await measure(options, store, host);
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
  await main(options, stores[options.store]!);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
