import type { JobEvent } from '../events/job-event.ts';
import type { JsonObject } from '../json.ts';
import type { Job } from './job.ts';

/** What a run says of itself while it goes on. Whatever is absent stays as it was. */
export interface Report {
  /** The run's own count of its reports from 1, so that one sent twice is told once; null: it does not count. */
  number: number | null;
  /** How much is done, 0 to 1. Never goes back within a run: a bar that shrinks helps nobody. */
  fraction?: number;
  /** Whatever else the task wants to show. */
  data?: JsonObject;
  /** What the next run may go on from, should this one not come to its end. */
  checkpoint?: JsonObject;
}

/** The newest that was said of a job. Kept beside its row, which only `extend` may write during a run. */
export interface Progress {
  tenant: string;
  id: string;
  run: number;
  /** The `number` of the run's newest report. */
  number: number;
  /** Reports of all runs, which is also the sequence of the newest event. */
  sequence: number;
  fraction: number | null;
  data: JsonObject | null;
  /** Outlives its run, unlike the rest. */
  checkpoint: JsonObject | null;
  at: number;
}

export const PROGRESS_SOURCE = 'worker';

/** Which run a call is for. The token is exact; a worker's name is nearly so; with neither only the state is checked. */
export interface Fence {
  leaseToken?: string;
  workerId?: string;
  /**
   * The queue that the caller's token names. A token of another queue is refused with `invalid_request`: where tokens are
   * signed always, else where the row is read anyhow.
   */
  queue?: string;
}

/** The fence of a call as stores take it: by token, by worker where the caller has no token, or any active run. */
export type RunFence = { run: number; claimId: string } | { workerId: string } | 'anyone';

export function fenceAdmits(job: Job, by: RunFence): boolean {
  if (job.state !== 'active') return false;
  if (by === 'anyone') return true;
  return 'workerId' in by ? job.workerId === by.workerId : job.run === by.run && job.claimId === by.claimId;
}

/** What a report makes of what was known, and the event that tells of it. Null: it was told before. */
export function progressAfter(
  job: Job,
  known: Progress | null,
  report: Report,
  now: number,
): { progress: Progress; event: JobEvent } | null {
  const before = known?.run === job.run ? known : null;
  if (report.number !== null && before !== null && report.number <= before.number) return null;
  const fraction = furthest(before?.fraction ?? null, report.fraction);
  const progress: Progress = {
    tenant: job.tenant,
    id: job.id,
    run: job.run,
    number: report.number ?? (before?.number ?? 0) + 1,
    sequence: (known?.sequence ?? 0) + 1,
    fraction,
    data: report.data ?? before?.data ?? null,
    checkpoint: report.checkpoint ?? known?.checkpoint ?? null,
    at: now,
  };
  return { progress, event: eventOf(job, progress) };
}

function furthest(before: number | null, told: number | undefined): number | null {
  if (told === undefined) return before;
  return Math.max(before ?? 0, Math.min(1, Math.max(0, told)));
}

/** The checkpoint stays out of it: it is for the next run, not for whoever watches. */
function eventOf(job: Job, { fraction, data, sequence, at }: Progress): JobEvent {
  const message = data?.['message'];
  return {
    type: 'job.progress',
    tenant: job.tenant,
    jobId: job.id,
    jobType: job.type,
    queue: job.queue,
    run: job.run,
    attempt: job.attempt,
    source: PROGRESS_SOURCE,
    sequence,
    at,
    data: {
      worker_id: job.workerId,
      ...(fraction !== null && { progress: fraction, progress_percent: Math.round(fraction * 1000) / 10 }),
      ...(typeof message === 'string' && { progress_message: message }),
      ...(data !== null && { data }),
    },
  };
}
