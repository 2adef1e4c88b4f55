import { tableOf } from './report.ts';
import type { Result } from './result.ts';
import { chosenOf, orderOf } from './rounds.ts';
import { runOne, type Session } from './runs.ts';

/**
 * Prints what was asked for and answers whether every run succeeded. A system that failed once is left out of the rest
 * of its workload: a long run is not lost by it, and no median hides it.
 */
export async function measure(session: Session): Promise<boolean> {
  const { systems: wanted, rounds, json, workloads } = session.options;
  const { missing } = session.host;
  let allWell = true;
  // Beside the results, so that lines of JSON stay lines of JSON.
  for (const [system, why] of Object.entries(missing)) console.error(`${system} is left out: ${why}.`);
  for (const workload of workloads) {
    const { systems, yardstick, report = tableOf } = session.store.workloads[workload]!;
    let running = chosenOf(Object.keys(systems), { wanted, missing });
    const results: Result[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const system of orderOf(running, round)) {
        try {
          const result = await runOne(session, { workload, system, round });
          if (json) console.log(JSON.stringify(result));
          results.push(result);
        } catch (error) {
          session.signal.throwIfAborted();
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
