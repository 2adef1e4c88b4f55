import { destinationOf } from '../enqueue/envelope.ts';
import { invalidField, WaybillError } from '../errors.ts';
import type { Job } from '../job/job.ts';
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
      if (caller.isNarrowed) check(request);
      const made = jobs.enqueue(request, { ...context, tenant });
      const answer = await (caller.isNarrowed ? made.catch((error) => hide(error, tenant)) : made);
      if (!caller.sees(answer.job)) throw taken('idempotency key');
      return answer.created ? answer : { ...answer, job: shownTo(caller, answer.job) };
    },
    enqueueMany: async (requests, context) => {
      const tenant = caller.enter('enqueue', context);
      if (!caller.isNarrowed && caller.may('read')) return jobs.enqueueMany(requests, { ...context, tenant });
      if (caller.isNarrowed) requests.forEach(check);
      // A port that does not say what it made has made nothing that the caller may see whole.
      let created: ReadonlySet<string> = new Set();
      const onCreated = (ids: ReadonlySet<string>): void => {
        created = ids;
        context?.onCreated?.(ids);
      };
      const made = jobs.enqueueMany(requests, { ...context, tenant, onCreated });
      const answered = await (caller.isNarrowed ? made.catch((error) => hide(error, tenant)) : made);
      return answered.map((job, index) => {
        if (created.has(job.id)) return job;
        if (!caller.sees(job)) throw taken('unique key', { index });
        return shownTo(caller, job);
      });
    },
  };
}

/** A job that the call did not make, for a caller that may not read jobs. */
export const shownTo = (caller: Caller, job: Job): Job => (caller.may('read') ? job : withoutContent(job));

const withoutContent = (job: Job): Job => ({
  ...{ ...job, errors: [], result: null },
  spec: { ...job.spec, args: [], meta: {} },
});

const taken = (what: string, details: Record<string, unknown> = {}): WaybillError =>
  new WaybillError('duplicate', `There is already a job with this ${what}.`, { details });
