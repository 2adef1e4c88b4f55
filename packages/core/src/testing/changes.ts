import type { Transition } from '../job/evolve.ts';
import type { Job } from '../job/job.ts';
import type { Outcome } from '../job/outcome.ts';
import { rankFor } from '../job/rank.ts';
import { type Command, transition } from '../job/transition.ts';
import { ruleInSpec } from '../limits/limit-options.ts';
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
  if (!next) return null;
  const { version, nextAt, holdsSlot, uniqueKey } = row;
  const change = changeTo(row, next, { by: 'version', version, nextAt, holdsSlot });
  const revives = command.do === 'replay' || command.do === 'reinstate';
  return revives && uniqueKey !== null ? { ...change, ownsKey: true } : change;
}

function changeTo(before: Job, { job, events }: Transition, expect: Expectation): Change {
  if (job.limitKey === null) return { expect, job, events };
  // Every start counts in a rate. A job that comes back from a run therefore asks anew, with the slot it had as the
  // first one that is free: if it kept it, it could start again at once.
  if (job.state === 'available' && (before.state !== 'available' || !job.holdsSlot)) {
    const asking = { ...job, holdsSlot: false };
    const limit = ruleInSpec(job.spec);
    return { expect, job: { ...asking, rank: rankFor(asking) }, events, slot: 'request', ...(limit && { limit }) };
  }
  return before.holdsSlot && !job.holdsSlot ? { expect, job, events, slot: 'release' } : { expect, job, events };
}
