import { type Job, type JobRequest, type Jobs, type JsonObject, WaybillError } from '@waybill/core';
import type { EnqueuedFromRun, RunEnqueueOptions } from './enqueue-options.ts';
import { requestFor } from './request.ts';
import type { AnyTask } from './task.ts';
import type { TaskDefaults } from './task-defaults.ts';
import type { TypedTask } from './typed-task.ts';

interface EnqueueParts {
  jobs: Partial<Pick<Jobs, 'enqueue'>>;
  defaults?: TaskDefaults | undefined;
}

/** What the trace of a job consists of, as it stands in its meta. */
const TRACE = ['traceparent', 'tracestate', 'trace_id'] as const;

/** A job belongs to the tenant of its parent, and to no transaction. */
export function checkRunOptions(options: object): void {
  const name = ['tenant', 'within'].find((one) => one in options);
  if (name === undefined) return;
  throw new WaybillError(
    'invalid_request',
    `context.enqueue() has no option '${name}': the job has the tenant of its parent.`,
  );
}

/** The job says in its meta which job it comes from, and goes on with that one's trace. */
export async function enqueueFromRun(
  { tenant, id, spec }: Job,
  { jobs, defaults }: EnqueueParts,
  task: TypedTask,
  input: unknown,
  options: RunEnqueueOptions = {},
): Promise<EnqueuedFromRun> {
  if (jobs.enqueue === undefined) {
    const hint = 'Give the worker all jobs of its connection.';
    throw new WaybillError('unsupported', 'This worker cannot enqueue jobs, so context.enqueue() cannot.', { hint });
  }
  checkRunOptions(options);
  const handed = TRACE.flatMap((name) => (spec.meta[name] === undefined ? [] : [[name, spec.meta[name]] as const]));
  const meta: JsonObject = { ...Object.fromEntries(handed), ...options.meta, parent_id: id };
  const request: JobRequest = await requestFor(task as AnyTask, input, { ...options, meta }, { defaults });
  const { idempotencyKey } = options;
  const { job, created } = await jobs.enqueue(request, {
    tenant,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
  return { id: job.id, job, created };
}
