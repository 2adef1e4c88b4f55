import { classifyError, isObject, type Job, type Json, type JsonObject, type LoggedEvent } from '@waybill/core';
import { textOf } from './envelope.ts';
import type { TaskEventType } from './event-types.ts';
import type { Facts, TaskFacts } from './facts.ts';

/** Of the text of an error. */
const LONGEST_ERROR = 500;
const LONGEST_SUMMARY = 200;

/** Why a job failed that was ended because of its message in a redrive queue. */
export const DLQ_ERROR = { code: 'max_retries', message: 'max retries exhausted, moved to DLQ' } as const;

/** An event of a job in the log. */
type TaskEvent = LoggedEvent & { jobId: string };

type Properties = (event: TaskEvent, task: TaskFacts, facts: Facts) => JsonObject | Promise<JsonObject>;

/** What an event of a task carries beside its ids. Rows are read only where the event itself does not say it. */
const PROPERTIES: Record<TaskEventType, Properties> = {
  'Task Waiting': ({ data, jobType }) => ({
    ...{ name: jobType ?? '', ...picked(data, { scheduled_at: 'scheduledAt', signal: 'signal' }) },
  }),
  'Task Pending': ({ data, jobType, attempt }) => ({
    ...{ name: jobType ?? '', attemptNumber: attempt ?? 0 },
    ...picked(data, { until: 'notBefore', reason: 'reason' }),
  }),
  'Task Processing Started': (event, { leaseMs }) => ({
    ...{ name: event.jobType ?? '', attemptNumber: event.attempt ?? 0, ...workerOf(event) },
    ...(leaseMs !== null && { effectiveUntil: event.at + leaseMs }),
  }),
  'Task Heartbeat': async (event, { run, startedAt }, facts) => ({
    ...workerOf(event),
    effectiveUntil: Date.parse(String(event.data['visible_until'])),
    ...elapsed(event, run === event.run ? startedAt : null),
    ...picked((await facts.vitals(event)) ?? {}, VITALS),
  }),
  'Task Updated': (event) => ({
    ...workerOf(event),
    update: picked(event.data, { progress_message: 'message', progress: 'progress', data: 'metadata' }),
  }),
  'Task Processing Failed': ({ data, attempt, type }) => ({
    attemptNumber: attempt ?? 0,
    ...(type === 'job.lease_expired' ? LEASE_EXPIRED : failureOf(data['error'])),
    ...picked(data, { next_retry_at: 'nextRetryAt' }),
  }),
  'Task Iteration Completed': ({ data, type }) => ({
    ...picked(data, { duration_ms: 'durationMs' }),
    ...(type === 'job.skipped' && { skipped: true }),
  }),
  'Task Completed': async (event, _, facts) => ({
    ...{ exitCode: 0, ...picked(event.data, { duration_ms: 'durationMs' }) },
    ...(event.type === 'job.skipped' && { skipped: true, ...picked(event.data, { reason: 'reason' }) }),
    ...outputOf(await facts.row(event), event.run),
  }),
  'Task Submitted For Review': async ({ tenant, data }, { taskId, jobId = '' }, facts) => {
    const iteration = numberIn(data, 'iteration') ?? 1;
    const row = await facts.iterationOf(tenant, jobId, `${taskId}[${iteration}]`);
    const took = row && row.startedAt !== null && row.finishedAt !== null ? row.finishedAt - row.startedAt : null;
    const { output, ...rest } = outputOf(row, row?.run);
    const text = typeof output === 'string' ? output : JSON.stringify(output ?? '');
    return {
      ...{ iteration, exitCode: 0, summary: text.slice(0, LONGEST_SUMMARY) },
      ...(took !== null && { durationMs: Math.max(0, took) }),
      ...(output !== undefined && { output, ...rest }),
    };
  },
  'Task Revision Requested': ({ data }) =>
    picked(data, { iteration: 'iteration', feedback: 'feedback', requested_by: 'reviewer' }),
  'Task Approved': ({ data }) => ({
    ...picked(data, { iteration: 'iteration', approved_by: 'reviewer', comment: 'comment' }),
    totalIterations: numberIn(data, 'iteration') ?? 1,
  }),
  'Task Failed': ({ type, data, attempt }) => ({
    ...failureOfEnd(type, data),
    ...{ retryCount: attempt ?? 0, source: isFromDlq(data) ? 'dlq' : 'worker' },
  }),
  'Task Timeout': async (event, { run, startedAt }, facts) => {
    const row = await facts.row(event);
    return {
      ...failureOf(event.data['last_error']),
      ...{ retryCount: event.attempt ?? 0, source: 'worker', signal: 'SIGTERM' },
      ...(row && row.timeoutMs !== null && { timeoutMs: row.timeoutMs }),
      ...elapsed(event, run === event.run ? startedAt : null),
    };
  },
};

export const taskProperties = async (
  type: TaskEventType,
  event: TaskEvent,
  task: TaskFacts,
  facts: Facts,
): Promise<JsonObject> => PROPERTIES[type](event, task, facts);

/** Which part of the system tells it. */
export function originOf(type: TaskEventType, { data }: LoggedEvent): string {
  if (isFromDlq(data)) return 'dlq';
  return ORIGINS[type] ?? 'worker';
}

const ORIGINS: Partial<Record<TaskEventType, string>> = {
  'Task Waiting': 'engine',
  'Task Pending': 'engine',
  'Task Revision Requested': 'review',
  'Task Approved': 'review',
};

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
function outputOf(row: Job | null, run: number | undefined): JsonObject {
  if (row === null || row.run !== run || row.state !== 'completed') return {};
  const { result } = row;
  const { usage } = (isObject(result) ? result : {}) as JsonObject;
  return { output: result, ...(isObject(usage) && { usage: usage as JsonObject }) };
}

const elapsed = ({ at }: TaskEvent, startedAt: number | null): JsonObject =>
  startedAt === null ? {} : { elapsedMs: Math.max(0, at - startedAt) };

const numberIn = (data: JsonObject, name: string): number | undefined =>
  typeof data[name] === 'number' ? data[name] : undefined;

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
