import type { Crons, Limits, Queues, Workers } from '@waybill/core';
import { cronFromWire, type WireCron } from '../cron-wire.ts';
import { limitFromWire, limitRuleToWire, type WireLimit } from '../limit-wire.ts';
import { queueFromWire, queueStatsFromWire, type WireQueue, type WireQueueStats } from '../queue-wire.ts';
import { type WireWorker, workerFromWire } from '../worker-wire.ts';
import { path } from './address.ts';
import type { Calls, Named } from './calls.ts';
import { RemoteError } from './remote-error.ts';

export function queues(calls: Calls): Queues {
  const change = async (method: string, where: string, context: Named | undefined, body?: object) => {
    const tenant = calls.tenantOf(context);
    const { queue } = await calls.call<{ queue: WireQueue }>(method, where, { tenant, ...(body && { body }) });
    return queueFromWire(queue, calls.whose(tenant));
  };
  return {
    list: async (context) => {
      const tenant = calls.tenantOf(context);
      const answer = await calls.call<{ queues: WireQueue[] }>('GET', '/ojs/v1/queues', { tenant });
      return answer.queues.map((queue) => queueFromWire(queue, calls.whose(tenant)));
    },
    stats: async (name, context) => {
      const tenant = calls.tenantOf(context);
      const { queue } = await calls.call<{ queue: WireQueueStats }>('GET', path`/ojs/v1/queues/${name}`, { tenant });
      if (queue.unused) throw new RemoteError({ code: 'not_found', message: `There is no queue '${name}'.` });
      return queueStatsFromWire(queue, calls.whose(tenant));
    },
    pause: async (name, context) => change('POST', path`/ojs/v1/queues/${name}/pause`, context),
    resume: async (name, context) => change('POST', path`/ojs/v1/queues/${name}/resume`, context),
    setKeep: async (name, keep, context) => change('PUT', path`/ojs/v1/queues/${name}/keep`, context, { keep }),
    setLimit: async (name, limit, context) => {
      const where = path`/ojs/v1/queues/${name}/limit`;
      return limit === null ? change('DELETE', where, context) : change('PUT', where, context, limitRuleToWire(limit));
    },
  };
}

export function limits(calls: Calls): Limits {
  const where = (key: string) => path`/ojs/v1/rate-limits/${key}`;
  return {
    get: async (key, context) => {
      const tenant = calls.tenantOf(context);
      return limitFromWire(await calls.call<WireLimit>('GET', where(key), { tenant }), calls.whose(tenant));
    },
    set: async (key, rule, context) => {
      const tenant = calls.tenantOf(context);
      const body = limitRuleToWire(rule);
      return limitFromWire(await calls.call<WireLimit>('PUT', where(key), { tenant, body }), calls.whose(tenant));
    },
  };
}

export function crons(calls: Calls): Crons {
  const one = async (method: string, where: string, context: Named | undefined, body?: object) => {
    const tenant = calls.tenantOf(context);
    const { cron } = await calls.call<{ cron: WireCron }>(method, where, { tenant, ...(body && { body }) });
    return cronFromWire(cron, calls.whose(tenant));
  };
  return {
    put: async (request, context) => one('POST', '/ojs/v1/cron', context, request),
    get: async (name, context) => one('GET', path`/ojs/v1/cron/${name}`, context),
    list: async (context) => {
      const tenant = calls.tenantOf(context);
      const answer = await calls.call<{ crons: WireCron[] }>('GET', '/ojs/v1/cron', { tenant });
      return answer.crons.map((cron) => cronFromWire(cron, calls.whose(tenant)));
    },
    setEnabled: async (name, enabled, context) =>
      one('POST', path`/ojs/v1/cron/${name}/${enabled ? 'resume' : 'pause'}`, context),
    remove: async (name, context) => one('DELETE', path`/ojs/v1/cron/${name}`, context),
  };
}

export function workers(calls: Calls): Workers {
  return {
    list: async (context) => {
      const tenant = calls.tenantOf(context);
      const answer = await calls.call<{ workers: WireWorker[] }>('GET', '/ojs/v1/workers', { tenant });
      return answer.workers.map((worker) => workerFromWire(worker, calls.whose(tenant)));
    },
    direct: async (id, directive, context) => {
      const tenant = calls.tenantOf(context);
      const where = path`/ojs/v1/workers/${id}/directive`;
      const { worker } = await calls.call<{ worker: WireWorker }>('POST', where, { tenant, body: { directive } });
      return workerFromWire(worker, calls.whose(tenant));
    },
  };
}
