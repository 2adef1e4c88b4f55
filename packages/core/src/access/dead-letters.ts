import { jobNotFound } from '../commit/row-change.ts';
import type { DeadLetters, DeadMessages, Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';
import type { Judge } from './judge.ts';

/** Looking takes `read`; every change is repair, and takes `admin`. */
export function scopedDeadLetters({ deadLetters }: Waybill, caller: Caller, judge: Judge): DeadLetters {
  const { messages } = deadLetters;
  return {
    list: async ({ filter = {}, ...query } = {}) => {
      const tenant = caller.enter('read', filter);
      const narrowed = caller.narrow(filter);
      return narrowed === null ? { items: [] } : deadLetters.list({ ...query, filter: { ...narrowed, tenant } });
    },
    get: async (id, context) => {
      const job = await deadLetters.get(id, { tenant: caller.enter('read', context) });
      if (!caller.sees(job)) throw jobNotFound(id);
      return job;
    },
    replay: async (id, context) => {
      const tenant = caller.enter('admin', context);
      await judge.mustSee(id, tenant);
      return deadLetters.replay(id, { tenant });
    },
    discard: async (id, context) => {
      const tenant = caller.enter('admin', context);
      await judge.mustSee(id, tenant);
      return deadLetters.discard(id, { tenant });
    },
    replayMany: async (filter, bound) => {
      const tenant = caller.enter('admin', filter);
      const narrowed = caller.narrow(filter);
      if (narrowed === null) return { replayed: 0, more: false };
      return deadLetters.replayMany({ ...narrowed, tenant }, bound);
    },
    discardMany: async (filter, bound) => {
      const tenant = caller.enter('admin', filter);
      const narrowed = caller.narrow(filter);
      if (narrowed === null) return { discarded: 0, more: false };
      return deadLetters.discardMany({ ...narrowed, tenant }, bound);
    },
    stats: async (filter = {}) => {
      const tenant = caller.enter('read', filter);
      const narrowed = caller.narrow(filter);
      return narrowed === null ? { total: 0, exact: true } : deadLetters.stats({ ...narrowed, tenant });
    },
    ...(messages && { messages: scopedMessages(messages, caller) }),
  };
}

function scopedMessages(messages: DeadMessages, caller: Caller): DeadMessages {
  const queuesOf = (asked: readonly string[] | undefined) => {
    caller.needAllTypes('messages have no type');
    return caller.queuesAmong(asked);
  };
  return {
    list: async ({ queues: asked, ...query }) => {
      const tenant = caller.enter('read', query);
      const queues = queuesOf(asked);
      return queues?.length === 0 ? [] : messages.list({ ...query, tenant, ...(queues && { queues }) });
    },
    replay: async ({ queues: asked, ...query }, bound) => {
      const tenant = caller.enter('admin', query);
      const queues = queuesOf(asked);
      if (queues?.length === 0) return { replayed: 0, removed: 0 };
      return messages.replay({ ...query, tenant, ...(queues && { queues }) }, bound);
    },
  };
}
