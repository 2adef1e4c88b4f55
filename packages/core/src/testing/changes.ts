import type { Transition } from '../job/evolve.ts';
import { isFinished, type Job } from '../job/job.ts';
import type { Outcome } from '../job/outcome.ts';
import { type Command, transition } from '../job/transition.ts';
import type { Change, Expectation } from '../store/apply.ts';

/** The change that settles the run of a claimed row, fenced by its lease. */
export function settleChange(claimed: Job, outcome: Outcome, now: number): Change {
  const next = transition(claimed, { do: 'settle', outcome }, now);
  if (!next || claimed.claimId === null) throw new Error(`A job that is ${claimed.state} has no run to settle.`);
  return changeTo(claimed, next, { by: 'lease', run: claimed.run, claimId: claimed.claimId });
}

/** The change that a command makes to a row as read, fenced by its version; null when the command does not fit. */
export function versionChange(row: Job, command: Command, now: number): Change | null {
  const next = transition(row, command, now);
  return next && changeTo(row, next, { by: 'version', version: row.version, nextAt: row.nextAt });
}

function changeTo(before: Job, { job, events }: Transition, expect: Expectation): Change {
  const slot = slotFor(before, job);
  return slot === undefined ? { expect, job, events } : { expect, job, events, slot };
}

/**
 * Told by where the job goes and not by whether it held a slot when it was read: being admitted changes neither
 * version nor `nextAt`, so the row may have got one since.
 */
function slotFor(before: Job, after: Job): Change['slot'] {
  if (after.limitKey === null || after.holdsSlot) return undefined;
  if (isFinished(before.state) && isFinished(after.state)) return undefined;
  return after.state === 'available' ? 'request' : 'release';
}
