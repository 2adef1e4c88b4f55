import type { OutcomeKind } from '@waybill/core';
import type { RunResult } from '../actors/handler.ts';
import { type Check, Tally, type World } from './finding.ts';
import type { History, Run } from './history.ts';

/** The event by which each outcome ends its run. */
const EVENT_OF: Partial<Record<OutcomeKind, string>> = {
  completed: 'job.completed',
  failed: 'job.failed',
  snoozed: 'job.snoozed',
  requeued: 'job.requeued',
  cancelled: 'job.cancelled',
  // A job that is given up has failed first.
  discarded: 'job.failed',
};

/** Guarantee 3: what a run without a lease says changes nothing; what a run with one says does. */
export const fencing: Check = (world) => {
  const tally = new Tally('settles');
  for (const history of world.histories.values()) {
    for (const { event, live } of history.stray) {
      const { type, run } = event;
      tally.expect(
        type === 'job.started',
        () =>
          `job ${history.id} has ${type} of run ${run} while ${live === undefined ? 'no run' : `run ${live}`} was live`,
      );
    }
    for (const run of history.runs) checkSettles(tally, history, run);
    checkResult(tally, world, history);
  }
  checkCancels(tally, world);
  return tally.finding;
};

function checkSettles(tally: Tally, { id }: History, { run, ended, settles }: Run): void {
  for (const { outcome, answer, by } of settles) {
    tally.count();
    const hasEffect = ended?.type === EVENT_OF[outcome];
    if (answer === 'ok')
      tally.expect(hasEffect, () => `${by} was answered that run ${run} of job ${id} is ${outcome}, and it is not`);
    // Other outcomes let the job go on, so that a repetition may come too late although the first try was written.
    if (answer === 'lease_lost' && outcome === 'completed')
      tally.expect(!hasEffect, () => `${by} was refused to complete run ${run} of job ${id}, and it is completed`);
  }
}

/** The row holds the result of the very run that completed it. */
function checkResult(tally: Tally, { jobs }: World, { id, events }: History): void {
  const completed = events.find(({ type }) => type === 'job.completed');
  if (completed === undefined) return;
  const result = jobs.get(id)?.result as RunResult | null | undefined;
  tally.expect(
    result?.job === id && result.run === completed.run,
    () => `job ${id} was completed by run ${completed.run}, and its result is ${JSON.stringify(result)}`,
  );
}

/** A job that was cancelled stays cancelled, whatever its worker says. */
function checkCancels(tally: Tally, { notes, jobs }: World): void {
  for (const note of notes) {
    if (note.kind !== 'cancelled' || note.state !== 'cancelled') continue;
    tally.count();
    const state = jobs.get(note.id)?.state;
    tally.expect(state === 'cancelled', () => `${note.by} has cancelled job ${note.id}, and it is ${state}`);
  }
}
