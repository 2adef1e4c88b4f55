import { runScript } from './child.ts';
import type { BenchOptions } from './options.ts';
import { scriptAt } from './paths.ts';
import { tableOf } from './report.ts';
import type { Result } from './result.ts';
import { chosenOf, orderOf } from './rounds.ts';
import type { RunOrder } from './run-one.ts';
import type { BenchStore, Host } from './stores/store.ts';

/** What a system's process is started with, as a user would who wants it so: see docs/worker.md. */
const FLAGS: Record<string, readonly string[]> = {
  'waybill-lean': ['--max-semi-space-size=4', '--max-old-space-size=256'],
};

const RUN_ONE = scriptAt('run-one');

async function runOne(order: RunOrder, server: string | undefined): Promise<Result> {
  const printed = await runScript(RUN_ONE, order, FLAGS[order.system]);
  const result = JSON.parse(printed.trim().split('\n').at(-1)!) as Result;
  return { ...result, ...(server !== undefined && { server }) };
}

/**
 * Prints what was asked for and answers whether every run succeeded. A system that failed once is left out of the rest
 * of its workload: a long run is not lost by it, and no median hides it.
 */
export async function measure(
  options: BenchOptions,
  { workloads }: BenchStore,
  host: Host,
  inside: string,
): Promise<boolean> {
  const { store, systems: wanted, rounds, scale, json } = options;
  const { servers, missing } = host;
  let allWell = true;
  // Beside the results, so that lines of JSON stay lines of JSON.
  for (const [system, why] of Object.entries(missing)) console.error(`${system} is left out: ${why}.`);
  for (const workload of options.workloads) {
    const { systems, yardstick, report = tableOf } = workloads[workload]!;
    let running = chosenOf(Object.keys(systems), { wanted, missing });
    const results: Result[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const system of orderOf(running, round)) {
        try {
          const result = await runOne({ inside, store, workload, system, scale, servers }, host.serverOf(system));
          if (json) console.log(JSON.stringify(result));
          results.push(result);
        } catch (error) {
          console.error(`${system} is left out of ${workload}, since it failed: ${(error as Error).message}`);
          running = running.filter((name) => name !== system);
          allWell = false;
        }
      }
    }
    if (!json && running.length > 0) console.log(report(workload, running, results, yardstick));
  }
  return allWell;
}
