import { invalidField, isObject, type JsonObject } from '@waybill/core';
import { openedOnce } from './opened-once.ts';

/** What the caller checks; the answers are the caller's own. */
export interface HealthChecks<All, One> {
  /** Everything that is processed now. */
  all(): Promise<All>;
  /** One task; null: there is none of this name. */
  one(task: { requestId: string; jobId?: string; tenant?: string }): Promise<One | null>;
}

export interface HealthCheckOptions<All, One> {
  /** Opened by the first invocation and kept as long as the function's container lives. */
  open(): Promise<HealthChecks<All, One>>;
}

/** `requestId` is what was asked for. */
export interface TaskNotFound {
  requestId: string;
  status: 'not_found';
}

/**
 * A function that checks everything when a schedule calls it, and one task when it is called with `{ requestId }`, to which
 * `jobId` and `tenant` may be added.
 */
export function healthCheckHandler<All, One>({ open }: HealthCheckOptions<All, One>) {
  const opened = openedOnce(open);
  return async (event: unknown): Promise<All | One | TaskNotFound> => {
    const asked = (isObject(event) ? event : {}) as JsonObject;
    const checks = await opened();
    if (isSchedule(asked)) return checks.all();
    const [requestId, jobId, tenant] = [text(asked, 'requestId'), text(asked, 'jobId'), text(asked, 'tenant')];
    if (requestId === undefined) throw invalidField('requestId', 'is required.');
    const task = { requestId, ...(jobId !== undefined && { jobId }), ...(tenant !== undefined && { tenant }) };
    return (await checks.one(task)) ?? { requestId, status: 'not_found' };
  };
}

/** As EventBridge and its scheduler call a function. */
const isSchedule = (event: JsonObject): boolean =>
  event['detail-type'] === 'Scheduled Event' || event['source'] === 'aws.scheduler' || event['source'] === 'aws.events';

function text(event: JsonObject, name: string): string | undefined {
  const value = event[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '') throw invalidField(name, 'must be a text.');
  return value;
}
