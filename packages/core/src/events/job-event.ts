import type { JsonObject } from '../json.ts';

/** Facts in the words of the Open Job Spec where it has one. All but the last are of the lifecycle and by the server. */
export const JOB_EVENT_TYPES = [
  'job.enqueued',
  'job.scheduled',
  'job.pending',
  'job.started',
  'job.completed',
  'job.failed',
  'job.retrying',
  'job.snoozed',
  'job.requeued',
  'job.lease_expired',
  'job.cancelled',
  'job.discarded',
  'job.expired',
  'job.replayed',
  'job.maintenance_failed',
  'job.progress',
] as const;

export type JobEventType = (typeof JOB_EVENT_TYPES)[number];

/** The events that end a job; exactly one is written per end. */
export const TERMINAL_EVENT_TYPES: ReadonlySet<JobEventType> = new Set([
  'job.completed',
  'job.cancelled',
  'job.discarded',
  'job.expired',
]);

/** One immutable fact about a job. Its key is (job, run, source, sequence). */
export interface JobEvent {
  type: JobEventType;
  tenant: string;
  jobId: string;
  jobType: string;
  queue: string;
  run: number;
  attempt: number;
  /** `server` counts by the row's version; what a run says of itself is counted apart, see progress.ts. */
  source: string;
  /** From 1, ordered and gap-free per job and source. */
  sequence: number;
  at: number;
  data: JsonObject;
}

/** An event as read from the log: `cursor` continues right behind it. */
export interface LoggedEvent extends JobEvent {
  cursor: string;
}
