import type { JsonObject } from '../json.ts';
import { SUBJECT_EVENT_TYPES, type SubjectEvent, type SubjectEventType } from './subject-event.ts';

/** Facts in the words of the Open Job Spec where it has one. All but the last two are of the lifecycle. */
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
  'job.skipped',
  'job.waiting',
  'job.signalled',
  'job.in_review',
  'job.approved',
  'job.revision_requested',
  'job.replayed',
  'job.maintenance_failed',
  'job.progress',
  'job.heartbeat',
] as const;

export type JobEventType = (typeof JOB_EVENT_TYPES)[number];

/** The events that end a job; exactly one is written per end. */
export const TERMINAL_EVENT_TYPES: ReadonlySet<EventType> = new Set([
  'job.completed',
  'job.cancelled',
  'job.discarded',
  'job.expired',
  'job.skipped',
]);

/** The events that end a run, whether or not they end its job. */
export const RUN_END_EVENT_TYPES: ReadonlySet<EventType> = new Set([
  ...TERMINAL_EVENT_TYPES,
  ...(['job.failed', 'job.retrying', 'job.snoozed', 'job.requeued', 'job.lease_expired'] as const),
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
  /** `server` counts by the row's version; what a run says of itself is counted apart, see progress.ts, heartbeat-event.ts. */
  source: string;
  /** From 1, ordered and gap-free per job and source. */
  sequence: number;
  at: number;
  data: JsonObject;
  subject?: never;
}

/** Whatever the log tells. */
export type LogEvent = JobEvent | SubjectEvent;
export type EventType = JobEventType | SubjectEventType;

/** All that the engine tells of; kinds of records add their own. */
export const EVENT_TYPES = [...JOB_EVENT_TYPES, ...SUBJECT_EVENT_TYPES] as const;

export const isJobEvent = <E extends LogEvent>(event: E): event is E & JobEvent => event.subject === undefined;

/** An event as read from the log: `cursor` continues right behind it. */
export type LoggedEvent = LogEvent & { cursor: string };
