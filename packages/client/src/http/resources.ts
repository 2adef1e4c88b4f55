import type { Crons, Limits, Queues, Workers } from '@waybill/core';
import { cronFromWire, type WireCron } from '../cron-wire.ts';
import { limitFromWire, limitRuleToWire, type WireLimit } from '../limit-wire.ts';
import { queueFromWire, queueStatsFromWire, type WireQueue, type WireQueueStats } from '../queue-wire.ts';
import { type WireWorker, workerFromWire } from '../worker-wire.ts';
import { path } from './address.ts';
import { type Calls, refuseTenant } from './calls.ts';
import { RemoteError } from './remote-error.ts';

export function queues(calls: Calls): Queues {
  const queueOf = async (answer: Promise<{ queue: WireQueue }>) => queueFromWire((await answer).queue);
  return {
    list: async (context) => {
      refuseTenant(context);
      const answer = await calls.call<{ queues: WireQueue[] }>('GET', '/ojs/v1/queues');
      return answer.queues.map(queueFromWire);
    },
    stats: async (name, context) => {
      refuseTenant(context);
      const { queue } = await calls.call<{ queue: WireQueueStats }>('GET', path`/ojs/v1/queues/${name}`);
      if (queue.unused) throw new RemoteError({ code: 'not_found', message: `There is no queue '${name}'.` });
      return queueStatsFromWire(queue);
    },
    pause: async (name, context) => {
      refuseTenant(context);
      return queueOf(calls.call('POST', path`/ojs/v1/queues/${name}/pause`));
    },
    resume: async (name, context) => {
      refuseTenant(context);
      return queueOf(calls.call('POST', path`/ojs/v1/queues/${name}/resume`));
    },
    setKeep: async (name, keep, context) => {
      refuseTenant(context);
      return queueOf(calls.call('PUT', path`/ojs/v1/queues/${name}/keep`, { body: { keep } }));
    },
    setLimit: async (name, limit, context) => {
      refuseTenant(context);
      const where = path`/ojs/v1/queues/${name}/limit`;
      if (limit === null) return queueOf(calls.call('DELETE', where));
      return queueOf(calls.call('PUT', where, { body: limitRuleToWire(limit) }));
    },
  };
}

export function limits(calls: Calls): Limits {
  const where = (key: string) => path`/ojs/v1/rate-limits/${key}`;
  return {
    get: async (key, context) => {
      refuseTenant(context);
      return limitFromWire(await calls.call<WireLimit>('GET', where(key)));
    },
    set: async (key, rule, context) => {
      refuseTenant(context);
      return limitFromWire(await calls.call<WireLimit>('PUT', where(key), { body: limitRuleToWire(rule) }));
    },
  };
}

export function crons(calls: Calls): Crons {
  const cronOf = async (answer: Promise<{ cron: WireCron }>) => cronFromWire((await answer).cron);
  return {
    put: async (request, context) => {
      refuseTenant(context);
      return cronOf(calls.call('POST', '/ojs/v1/cron', { body: request }));
    },
    get: async (name, context) => {
      refuseTenant(context);
      return cronOf(calls.call('GET', path`/ojs/v1/cron/${name}`));
    },
    list: async (context) => {
      refuseTenant(context);
      return (await calls.call<{ crons: WireCron[] }>('GET', '/ojs/v1/cron')).crons.map(cronFromWire);
    },
    setEnabled: async (name, enabled, context) => {
      refuseTenant(context);
      return cronOf(calls.call('POST', path`/ojs/v1/cron/${name}/${enabled ? 'resume' : 'pause'}`));
    },
    remove: async (name, context) => {
      refuseTenant(context);
      return cronOf(calls.call('DELETE', path`/ojs/v1/cron/${name}`));
    },
  };
}

export function workers(calls: Calls): Workers {
  return {
    list: async (context) => {
      refuseTenant(context);
      return (await calls.call<{ workers: WireWorker[] }>('GET', '/ojs/v1/workers')).workers.map(workerFromWire);
    },
    direct: async (id, directive, context) => {
      refuseTenant(context);
      const where = path`/ojs/v1/workers/${id}/directive`;
      return workerFromWire((await calls.call<{ worker: WireWorker }>('POST', where, { body: { directive } })).worker);
    },
  };
}
