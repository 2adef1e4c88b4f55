import { classifyError, type Job, type Json, type JsonObject, type LoggedEvent } from '@waybill/core';
import { textOf } from './envelope.ts';
import type { TaskEventType } from './event-types.ts';
import type { Facts } from './facts.ts';

/** Of the text of an error. */
const LONGEST_ERROR = 500;
const LONGEST_SUMMARY = 200;

/** Why a job failed that was ended because of its message in a redrive queue. */
export const DLQ_ERROR = { code: 'max_retries', message: 'max retries exhausted, moved to DLQ' } as const;

/** An event of a job in the log. */
type TaskEvent = LoggedEvent & { jobId: string };

type Properties = (event: TaskEvent, facts: Facts) => JsonObject | Promise<JsonObject>;

/** What an event of a task carries beside its ids. Rows are read only where the event itself does not say it. */
const PROPERTIES: Partial<Record<TaskEventType, Properties>> = {
  'Task Waiting': ({ data, jobType }) => ({ name: jobType ?? '', ...picked(data, { scheduled_at: 'scheduledAt' }) }),
  'Task Pending': ({ data, jobType, attempt }) => ({
    ...{ name: jobType ?? '', attemptNumber: attempt ?? 0 },
    ...picked(data, { until: 'notBefore', reason: 'reason' }),
  }),
  'Task Processing Started': async (event, facts) => {
    const row = await facts.row(event);
    const leaseMs = row && (row.visibilityMs ?? row.leaseMs);
    return {
      ...{ name: event.jobType ?? '', attemptNumber: event.attempt ?? 0 },
      ...workerOf(event),
      ...(leaseMs !== null && { effectiveUntil: event.at + leaseMs }),
    };
  },
  'Task Heartbeat': async (event, facts) => {
    const [{ run, startedAt }, vitals] = await Promise.all([facts.task(event), facts.vitals(event)]);
    return {
      ...workerOf(event),
      effectiveUntil: Date.parse(String(event.data['visible_until'])),
      ...(run === event.run && startedAt !== null && { elapsedMs: Math.max(0, event.at - startedAt) }),
      ...picked(vitals ?? {}, VITALS),
    };
  },
  'Task Updated': (event) => ({
    ...workerOf(event),
    update: picked(event.data, { progress_message: 'message', progress: 'progress', data: 'metadata' }),
  }),
  'Task Processing Failed': ({ data, attempt, type }) => ({
    attemptNumber: attempt ?? 0,
    ...(type === 'job.lease_expired' ? LEASE_EXPIRED : failureOf(data['error'])),
    ...picked(data, { next_retry_at: 'nextRetryAt' }),
  }),
  'Task Completed': async (event, facts) => {
    const row = await facts.row(event);
    return {
      ...{ exitCode: 0, ...picked(event.data, { duration_ms: 'durationMs' }) },
      ...(event.type === 'job.skipped' && { skipped: true, ...picked(event.data, { reason: 'reason' }) }),
      ...outputOf(row, event),
    };
  },
  'Task Failed': ({ type, data, attempt }) => ({
    ...failureOfEnd(type, data),
    ...{ retryCount: attempt ?? 0, source: isFromDlq(data) ? 'dlq' : 'worker' },
  }),
  'Task Timeout': async (event, facts) => {
    const row = await facts.row(event);
    return {
      ...failureOf(event.data['last_error']),
      ...{ retryCount: event.attempt ?? 0, source: 'worker', signal: 'SIGTERM' },
      ...(row && row.timeoutMs !== null && { timeoutMs: row.timeoutMs }),
      ...(row?.startedAt && { elapsedMs: Math.max(0, event.at - row.startedAt) }),
    };
  },
};

export const taskProperties = async (type: TaskEventType, event: TaskEvent, facts: Facts): Promise<JsonObject> =>
  (await PROPERTIES[type]?.(event, facts)) ?? {};

/** Which part of the system tells it. */
export function originOf(type: TaskEventType, { data }: LoggedEvent): string {
  if (isFromDlq(data)) return 'dlq';
  return type === 'Task Pending' || type === 'Task Waiting' ? 'engine' : 'worker';
}

const isFromDlq = ({ last_error: error }: JsonObject): boolean => codeOf(error) === DLQ_ERROR.code;

const LEASE_EXPIRED = { error: 'The lease ran out before the run was settled.', errorCategory: 'timeout' };

function failureOfEnd(type: LoggedEvent['type'], data: JsonObject): JsonObject {
  if (type === 'job.cancelled') return { error: textOf(data['reason']) ?? 'cancelled', errorCategory: 'cancelled' };
  if (type === 'job.expired') return { error: 'It was not started in time.', errorCategory: 'expired' };
  return failureOf(data['last_error']);
}

function failureOf(error: Json | undefined): JsonObject {
  const message = textOf((error as JsonObject | undefined)?.['message']) ?? 'unknown';
  const category = codeOf(error) === DLQ_ERROR.code ? 'max-retries' : classifyError(error).class;
  return { error: message.slice(0, LONGEST_ERROR), errorCategory: category };
}

const codeOf = (error: Json | undefined): string | undefined => textOf((error as JsonObject | undefined)?.['code']);

/** A row that was run again since has another result, or none. */
function outputOf(row: Job | null, { run }: LoggedEvent): JsonObject {
  if (row === null || row.run !== run || row.state !== 'completed') return {};
  const { result } = row;
  const usage = (result as JsonObject | null)?.['usage'];
  return {
    output: result,
    ...(usage !== undefined && usage !== null && typeof usage === 'object' && { usage }),
    ...(typeof result === 'string' && { summary: result.slice(0, LONGEST_SUMMARY) }),
  };
}

const VITALS = { number: 'heartbeatNumber', memory_bytes: 'memoryUsage', last_activity: 'lastActivity' } as const;

const workerOf = ({ data }: LoggedEvent): JsonObject => picked(data, { worker_id: 'workerId' });

/** What is there of these fields, under other names. */
function picked(data: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  const found: JsonObject = {};
  for (const [name, as] of Object.entries(names)) {
    const value = data[name];
    if (value !== undefined && value !== null) found[as] = value;
  }
  return found;
}
