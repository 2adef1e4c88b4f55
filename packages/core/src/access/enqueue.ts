import { destinationOf } from '../enqueue/envelope.ts';
import { invalidField, WaybillError } from '../errors.ts';
import type { Jobs } from '../waybill.ts';
import type { Caller } from './caller.ts';
import type { Judge } from './judge.ts';

/** A job is made only where its principal could see it, and tells its principal of no other job. */
export function enqueueing(jobs: Jobs, caller: Caller, judge: Judge): Pick<Jobs, 'enqueue' | 'enqueueMany'> {
  /** A unique rule without the queue may answer with a job of another queue, or replace it. */
  const check = (request: unknown): void => {
    const { meetsOtherQueues, ...destination } = destinationOf(request);
    caller.needDestination(destination);
    if (meetsOtherQueues && caller.hasQueues) {
      throw invalidField('options.unique.keys', "must name 'queue': this principal is narrowed to queues.");
    }
  };

  /** Ids and idempotency keys are the tenant's: another job may have them. */
  const hide = async (error: unknown, tenant: string): Promise<never> => {
    if (!(error instanceof WaybillError) || error.code !== 'duplicate') throw error;
    const { existing_job_id: id, index } = error.details ?? {};
    if (typeof id === 'string' && (await judge.sees(id, tenant))) throw error;
    throw taken('id', index === undefined ? {} : { index });
  };

  return {
    enqueue: async (request, context) => {
      const tenant = caller.enter('enqueue', context);
      if (!caller.isNarrowed) return jobs.enqueue(request, { ...context, tenant });
      check(request);
      const answer = await jobs.enqueue(request, { ...context, tenant }).catch((error) => hide(error, tenant));
      if (!caller.sees(answer.job)) throw taken('idempotency key');
      return answer;
    },
    enqueueMany: async (requests, context) => {
      const tenant = caller.enter('enqueue', context);
      if (!caller.isNarrowed) return jobs.enqueueMany(requests, { ...context, tenant });
      requests.forEach(check);
      return jobs.enqueueMany(requests, { ...context, tenant }).catch((error) => hide(error, tenant));
    },
  };
}

const taken = (what: string, details: Record<string, unknown> = {}): WaybillError =>
  new WaybillError('duplicate', `There is already a job with this ${what}.`, { details });
