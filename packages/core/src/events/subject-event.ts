import type { JsonObject } from '../json.ts';

/** Facts about what is not a job, in the words of the Open Job Spec where it has one. The first word is the kind. */
export const SUBJECT_EVENT_TYPES = [
  'queue.paused',
  'queue.resumed',
  'queue.limit_changed',
  'queue.keep_changed',
  'cron.registered',
  'cron.enabled',
  'cron.disabled',
  'cron.removed',
  'cron.triggered',
  'cron.skipped',
  'workflow.started',
  'workflow.step_completed',
  'workflow.completed',
  'workflow.failed',
  'workflow.cancelled',
  'workflow.resumed',
  'worker.started',
  'worker.quiet',
  'worker.terminating',
  'worker.resumed',
  'question.asked',
  'question.answered',
  'question.expired',
  'maintenance.failed',
  'health.checked',
  'budget.warned',
  'budget.exceeded',
  'audit.recorded',
] as const;

/**
 * Events of kinds of records, named after their kind. Whoever adds a kind adds its events here, by
 * `declare module '@waybill/core' { interface RecordEvents { 'webhook.created': true } }`. Incidents are here because the engine
 * opens some by itself.
 */
export interface RecordEvents {
  'incident.opened': true;
  'incident.changed': true;
  'incident.escalated': true;
  'incident.closed': true;
}

/** `key` is kept for what is to come. */
export type RecordEventType = keyof RecordEvents | `key.${string}`;

export type SubjectEventType = (typeof SUBJECT_EVENT_TYPES)[number] | RecordEventType;

/** One immutable fact about something that is not a job. Its key is (kind, subject, source, sequence). */
export interface SubjectEvent {
  type: SubjectEventType;
  tenant: string;
  /** The name of the queue or cron, the id of the workflow, worker or record. */
  subject: string;
  /** The job whose change tells it, where there is one. */
  jobId?: string;
  source: string;
  /** From 1, ordered and gap-free per kind, subject and source. */
  sequence: number;
  at: number;
  data: JsonObject;
  jobType?: never;
  queue?: never;
  run?: never;
  attempt?: never;
}

/** What is to be told; the store gives it its place in the order. */
export type Told = Pick<SubjectEvent, 'type' | 'tenant' | 'subject' | 'at' | 'data'>;

export const kindOf = (type: string): string => type.slice(0, type.indexOf('.'));

/** What a store counts the events of a subject by. */
export const countedAs = ({ tenant, type, subject }: Told): { tenant: string; kind: string; subject: string } => ({
  tenant,
  kind: kindOf(type),
  subject,
});

/** The first of a workflow comes with its first job, and is not counted by the store. */
const UNCOUNTED = new Map([['workflow', 1]]);

/** The event at its place, after `counted` others of its subject that the store has counted. */
export function numbered({ type, tenant, subject, at, data }: Told, counted: number): SubjectEvent {
  const sequence = (UNCOUNTED.get(kindOf(type)) ?? 0) + counted + 1;
  return { type, tenant, subject, source: 'server', sequence, at, data };
}
