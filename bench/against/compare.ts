import { chosenOf } from '../rounds.ts';
import { RUN_ONE, runOne, type Session } from '../runs.ts';
import { alternate, comparisonOf, headingOf, isGoodEnough, ratiosOf, type Side } from './comparison.ts';
import { Progress } from './progress.ts';
import { type Revision, shortOf, workingTree } from './revision.ts';

/** What both builds run, where nobody says so: other systems are the same on both sides. */
const SYSTEMS = ['waybill'];

/**
 * Prints how this build does against the one whose `run-one` is given, and answers whether every run succeeded and every
 * ratio is high enough.
 */
export async function compare(session: Session, revision: Revision, refScript: string): Promise<boolean> {
  const { rounds, json, atLeast, systems: wanted = SYSTEMS } = session.options;
  const { name: ref } = revision;
  const build = (side: Side) => (side === 'this' ? 'this' : ref);
  const series = session.options.workloads.flatMap((workload) => {
    const all = Object.keys(session.store.workloads[workload]!.systems);
    return chosenOf(all, { wanted, missing: session.host.missing }).map((system) => ({
      ...{ workload, system },
      name: system === SYSTEMS[0] ? workload : `${workload} ${system}`,
    }));
  });
  if (series.length === 0) throw new Error(`None of ${wanted.join(', ')} can be measured here.`);
  const progress = new Progress(
    series.map(({ name }) => name),
    rounds,
  );
  const width = Math.max(...series.map(({ name }) => name.length));
  if (!json) console.log(headingOf(ref, { rounds, tree: workingTree(), commit: shortOf(revision) }));
  let allWell = true;
  for (const { name, workload, system } of series) {
    try {
      const results = await alternate(rounds, (side, round) =>
        progress.run(name, round, build(side), async () => {
          try {
            const script = side === 'this' ? RUN_ONE : refScript;
            const result = await runOne(session, { workload, system, round, script });
            if (json) console.log(JSON.stringify({ build: build(side), ...result }));
            return result;
          } catch (error) {
            throw new Error(`a run of ${build(side)} failed: ${(error as Error).message}`, { cause: error });
          }
        }),
      );
      progress.end(name);
      if (!isGoodEnough(ratiosOf(results), atLeast)) allWell = false;
      if (!json) console.log(comparisonOf({ name, results }, ref, width, atLeast));
    } catch (error) {
      session.signal.throwIfAborted();
      progress.end(name);
      console.error(`${name} is left out, because ${(error as Error).message}`);
      allWell = false;
    }
  }
  return allWell;
}
