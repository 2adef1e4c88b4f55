import { jobNotFound } from '../commit/row-change.ts';
import type { FollowedItem, HeartbeatCall, Jobs, Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';
import { enqueueing, shownTo } from './enqueue.ts';
import { explanationFor } from './explain.ts';
import type { Judge } from './judge.ts';

/**
 * Whoever may enqueue may also cancel and activate: these take back or complete an enqueue. To run a job again is repair,
 * as it is for dead letters, and takes `admin`.
 */
export function scopedJobs(waybill: Waybill, caller: Caller, judge: Judge): Jobs {
  const { jobs } = waybill;
  return {
    ...enqueueing(jobs, caller, judge),
    get: async (id, context) => {
      const tenant = caller.enter('read', context);
      if (!caller.isNarrowed) return jobs.get(id, { ...context, tenant });
      const job = await jobs.get(id, { ...context, tenant }).catch(async (error: unknown) => {
        await judge.mustSee(id, tenant);
        throw error;
      });
      if (!caller.sees(job)) throw jobNotFound(id);
      return job;
    },
    list: async ({ filter = {}, ...query } = {}) => {
      const tenant = caller.enter('read', filter);
      const narrowed = caller.narrow(filter);
      return narrowed === null ? { items: [] } : jobs.list({ ...query, filter: { ...narrowed, tenant } });
    },
    explain: async (id, context) => {
      const tenant = caller.enter('read', context);
      await judge.mustSee(id, tenant);
      return explanationFor(await jobs.explain(id, { tenant }), caller);
    },
    claim: async (call) => {
      const tenant = caller.enter('work', call);
      if (caller.isNarrowed) for (const queue of call?.queues ?? []) caller.needQueue(queue);
      const leases = await jobs.claim({ ...call, tenant });
      // A repeated claim answers what it has claimed before, whichever queues it names now.
      return caller.isNarrowed ? leases.filter(({ job }) => caller.seesQueue(job.queue)) : leases;
    },
    heartbeat: async (call) => {
      const tenant = caller.enter('work', call);
      if (!caller.isNarrowed) return jobs.heartbeat({ ...call, tenant });
      const mine = await seenOf(call, tenant, judge);
      const heard = await jobs.heartbeat({ ...call, tenant, jobs: mine });
      const alive = new Set(heard.extended.map(({ id }) => id));
      return { ...heard, lost: call.jobs.map(({ id }) => id).filter((id) => !alive.has(id)) };
    },
    settle: async (call) => {
      const tenant = caller.enter('work', call);
      if (caller.isNarrowed) await judge.mustSee(call.id, tenant);
      return jobs.settle({ ...call, tenant });
    },
    report: async (call) => {
      const tenant = caller.enter('work', call);
      if (caller.isNarrowed) await judge.mustSee(call.id, tenant);
      return jobs.report({ ...call, tenant });
    },
    progress: async (id, context) => {
      const tenant = caller.enter('read', context);
      await judge.mustSee(id, tenant);
      return jobs.progress(id, { tenant });
    },
    spend: async (call) => {
      const tenant = caller.enter('work', call);
      if (caller.isNarrowed) await judge.mustSee(call.id, tenant);
      return jobs.spend({ ...call, tenant });
    },
    append: async (call) => {
      const tenant = caller.enter('work', call);
      if (caller.isNarrowed) await judge.mustSee(call.id, tenant);
      return jobs.append({ ...call, tenant });
    },
    journal: async (id, query) => {
      const tenant = caller.enter('read', query);
      await judge.mustSee(id, tenant);
      return jobs.journal(id, { ...query, tenant });
    },
    follow: (id, query) => {
      const tenant = caller.enter('read', query);
      return caller.isNarrowed ? seenFirst(id, tenant) : jobs.follow(id, { ...query, tenant });

      async function* seenFirst(...asked: [string, string]): AsyncGenerator<FollowedItem> {
        await judge.mustSee(...asked);
        yield* jobs.follow(id, { ...query, tenant });
      }
    },
    ask: async (call) => {
      const tenant = caller.enter('work', call);
      if (caller.isNarrowed) await judge.mustSee(call.id, tenant);
      return jobs.ask({ ...call, tenant });
    },
    cancel: async (id, context) => {
      const tenant = caller.enter('enqueue', context);
      await judge.mustSee(id, tenant);
      return shownTo(caller, await jobs.cancel(id, { ...context, ...caller.by, tenant }));
    },
    activate: async (id, context) => {
      const tenant = caller.enter('enqueue', context);
      await judge.mustSee(id, tenant);
      return shownTo(caller, await jobs.activate(id, { tenant }));
    },
    retry: async (id, context) => {
      const tenant = caller.enter('admin', context);
      await judge.mustSee(id, tenant);
      return jobs.retry(id, { tenant });
    },
    ...(jobs.urls && {
      urls: async (job, bound) => {
        caller.need('read');
        if (!caller.owns(job.tenant) || !caller.sees(job)) throw jobNotFound(job.id);
        return jobs.urls!(job, bound);
      },
    }),
  };
}

/** The jobs of a heartbeat that the caller may see; the others are answered as lost. */
async function seenOf({ jobs }: HeartbeatCall, tenant: string, judge: Judge): Promise<HeartbeatCall['jobs']> {
  const seen = await Promise.all(jobs.map(({ id }) => judge.sees(id, tenant)));
  return jobs.filter((_, index) => seen[index]);
}
