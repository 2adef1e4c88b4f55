import { checkQueue, queueNotFound } from '../enqueue/envelope.ts';
import type { Limits, Queues, Waybill, Workers } from '../waybill.ts';
import type { Caller } from './caller.ts';

type Call = { tenant?: string | undefined } | undefined;

/** Queues as wholes: a principal that is narrowed to types may look at them, and not at their counts. */
export function scopedQueues({ queues }: Waybill, caller: Caller): Queues {
  const mustSee = (name: string): void => {
    if (!caller.seesQueue(checkQueue(name, 'queue'))) throw queueNotFound(name);
  };
  const change = (name: string, context: Call): string => {
    const tenant = caller.enter('admin', context);
    mustSee(name);
    return tenant;
  };
  return {
    list: async (context) => {
      const tenant = caller.enter('read', context);
      const all = await queues.list({ tenant });
      return caller.isNarrowed ? all.filter(({ name }) => caller.seesQueue(name)) : all;
    },
    stats: async (name, context) => {
      const tenant = caller.enter('read', context);
      mustSee(name);
      caller.needAllTypes('a queue counts the jobs of all types');
      return queues.stats(name, { tenant });
    },
    pause: async (name, context) => queues.pause(name, { ...context, ...caller.by, tenant: change(name, context) }),
    resume: async (name, context) => queues.resume(name, { ...context, ...caller.by, tenant: change(name, context) }),
    setLimit: async (name, limit, context) => queues.setLimit(name, limit, { tenant: change(name, context) }),
    setKeep: async (name, keep, context) => queues.setKeep(name, keep, { tenant: change(name, context) }),
  };
}

/** Jobs of any queue and type may share a key. */
export function scopedLimits({ limits }: Waybill, caller: Caller): Limits {
  const WHY = 'jobs of all queues and types may share a limit';
  return {
    get: async (key, context) => {
      const tenant = caller.enter('read', context);
      caller.needAll(WHY);
      return limits.get(key, { tenant });
    },
    set: async (key, rule, context) => {
      const tenant = caller.enter('admin', context);
      caller.needAll(WHY);
      return limits.set(key, rule, { tenant });
    },
  };
}

/** A worker may take jobs of any queue. */
export function scopedWorkers({ workers }: Waybill, caller: Caller): Workers {
  const WHY = 'workers belong to no queue';
  return {
    list: async (context) => {
      const tenant = caller.enter('read', context);
      caller.needAll(WHY);
      return workers.list({ tenant });
    },
    direct: async (id, directive, context) => {
      const tenant = caller.enter('admin', context);
      caller.needAll(WHY);
      return workers.direct(id, directive, { tenant });
    },
  };
}
