import { isFinished } from '@waybill/core';
import { type Check, Tally, type World } from './finding.ts';
import type { History, Run } from './history.ts';

/** Guarantee 11: what a killed worker had in hand is run again, and SIGTERM ends a process in order. */
export const rescue: Check = (world) => {
  const tally = new Tally('runs and ends');
  const killed = new Set(world.endings.filter(({ how }) => how === 'killed').map(({ life }) => life));
  for (const history of world.histories.values()) {
    for (const run of history.runs) {
      const isOpen = run.starts.some(({ by }) => killed.has(by)) && !run.settles.some(({ answer }) => answer === 'ok');
      if (isOpen) checkRescue(tally, world, history, run);
    }
  }
  for (const { life, how, code, signal, lastLine } of world.endings) {
    if (how !== 'terminated') continue;
    tally.count();
    const why = lastLine === undefined ? '' : `: ${lastLine}`;
    tally.expect(code === 0, () => `${life} was told to end by SIGTERM and ended with ${signal ?? code}${why}`);
  }
  return tally.finding;
};

/** It had begun, and its worker was killed before anybody told it that it was settled. */
function checkRescue(tally: Tally, { jobs }: World, { id, runs }: History, { run, starts, ended }: Run): void {
  tally.count();
  const by = starts[0]!.by;
  tally.expect(ended !== undefined, () => `run ${run} of job ${id} is still live, and ${by} was killed`);
  if (ended?.type !== 'job.lease_expired') return;
  const job = jobs.get(id);
  const wasRunAgain = runs.some((other) => other.run > run && other.started !== undefined);
  const isOver = job !== undefined && isFinished(job.state) && job.state !== 'completed';
  tally.expect(wasRunAgain || isOver, () => `job ${id} was not run again after ${by} was killed`);
}
