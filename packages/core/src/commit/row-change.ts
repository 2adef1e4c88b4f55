import { WaybillError } from '../errors.ts';
import { isFinished, type Job } from '../job/job.ts';
import { type Command, transition } from '../job/transition.ts';
import { ruleInSpec } from '../limits/limit-options.ts';
import type { Change, Expectation } from '../store/apply.ts';
import type { Store } from '../store/store.ts';

/** The row must be as it was read. */
export const seen = ({ version, nextAt, holdsSlot }: Job): Expectation => ({
  by: 'version',
  version,
  nextAt,
  holdsSlot,
});

/** A row's new values with all that is told of them. */
export type Written = Pick<Change, 'job' | 'events'>;

export function changeOf(before: Job, expect: Expectation, { job, events }: Written): Change {
  const slot = slotMove(before, job);
  if (slot === undefined) return { expect, job, events };
  const limit = slot === 'request' ? ruleInSpec(job.spec) : null;
  return limit === null ? { expect, job, events, slot } : { expect, job, events, slot, limit };
}

/** The same command for many rows; those that it does not fit stay as they are. */
export function changesOf({ clock }: Pick<Store, 'clock'>, jobs: readonly Job[], command: Command): Change[] {
  const now = clock.now();
  return jobs.flatMap((job) => {
    const after = transition(job, command, now);
    return after === null ? [] : [changeOf(job, seen(job), after)];
  });
}

/** What a change means for the limit that the job obeys. */
function slotMove(before: Job, after: Job): Change['slot'] {
  if (after.limitKey === null) return undefined;
  if (after.state === 'available' && !after.holdsSlot) return 'request';
  return before.holdsSlot && !after.holdsSlot ? 'release' : undefined;
}

export const jobNotFound = (id: string): WaybillError =>
  new WaybillError('not_found', `There is no job ${id}.`, {
    details: { job_id: id },
    hint: 'Check the id; finished jobs are removed after the retention time.',
  });

export const wrongState = (job: Job, wanted: string): WaybillError =>
  new WaybillError('conflict', `Job ${job.id} is ${job.state}; ${wanted}.`, {
    details: { job_id: job.id, state: job.state },
  });

export const notReplayable = (job: Job): WaybillError =>
  isFinished(job.state)
    ? wrongState(
        job,
        'of a workflow only a node that failed can be run again: resume the workflow, or enqueue a new job',
      )
    : wrongState(job, 'only a finished job can be run again');
