import { queueCounts, queueToWire } from '@waybill/client';
import {
  checkLimitRule,
  checkQueue,
  invalidField,
  QUEUE_KEEPS,
  type QueueStats,
  type Queues,
  WaybillError,
} from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody, readOptionalBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';
import type { Surface } from '../surface.ts';
import { PAGE_PARAMETERS, pageOf } from './pagination.ts';

/** Queues as wholes: what is in them, whether they give out jobs, and how many. */
export function queueRoutes(app: App, { maxBodyBytes, clock }: Surface): void {
  app.get('/ojs/v1/queues', async (c) => {
    const query = new Query(c, PAGE_PARAMETERS);
    const { items, pagination } = pageOf(query, await portOf(c).queues.list());
    return answer(c, { queues: items.map(queueToWire), pagination });
  });

  app.get('/ojs/v1/queues/:name', async (c) => {
    const { isUnused, ...stats } = await statsOf(portOf(c).queues, nameIn(c));
    const unused = isUnused && { unused: true };
    return answer(c, { queue: { ...queueToWire(stats), ...queueCounts(stats, clock.now()), ...unused } });
  });

  // The suites of two levels read different halves of this answer.
  app.get('/ojs/v1/queues/:name/stats', async (c) => {
    const stats = await statsOf(portOf(c).queues, nameIn(c));
    const counts = queueCounts(stats, clock.now());
    return answer(c, { queue: { ...queueToWire(stats), ...counts }, stats: { queue: stats.name, ...counts } });
  });

  for (const verb of ['pause', 'resume'] as const) {
    app.post(`/ojs/v1/queues/:name/${verb}`, async (c) => {
      const name = nameIn(c);
      await readOptionalBody(c, maxBodyBytes);
      return answer(c, { queue: queueToWire(await portOf(c).queues[verb](name)) });
    });
  }

  app.put('/ojs/v1/queues/:name/keep', async (c) => {
    const name = nameIn(c);
    const keep = (await readBody(c, maxBodyBytes)).oneOf('keep', QUEUE_KEEPS);
    if (keep === undefined) throw invalidField('keep', 'is required.', { allowed: QUEUE_KEEPS });
    return answer(c, { queue: queueToWire(await portOf(c).queues.setKeep(name, keep)) });
  });

  app.put('/ojs/v1/queues/:name/limit', async (c) => {
    const name = nameIn(c);
    const rule = checkLimitRule(await readBody(c, maxBodyBytes));
    return answer(c, { queue: queueToWire(await portOf(c).queues.setLimit(name, rule)) });
  });

  app.delete('/ojs/v1/queues/:name/limit', async (c) =>
    answer(c, { queue: queueToWire(await portOf(c).queues.setLimit(nameIn(c), null)) }),
  );
}

const nameIn = (c: Ctx): string => checkQueue(c.req.param('name') ?? '', 'name');

/** A queue comes into being with its first job, so whoever watches one may well be early: that is no mistake. */
async function statsOf(queues: Queues, name: string): Promise<QueueStats & { isUnused?: true }> {
  try {
    return await queues.stats(name);
  } catch (error) {
    if (error instanceof WaybillError && error.code === 'not_found') return unused(name);
    throw error;
  }
}

const unused = (name: string): QueueStats & { isUnused: true } => ({
  isUnused: true,
  tenant: '',
  name,
  paused: false,
  keep: 'all',
  limit: null,
  available: 0,
  parked: 0,
  scheduled: 0,
  retryable: 0,
  pending: 0,
  active: 0,
  completed: 0,
  cancelled: 0,
  discarded: 0,
  oldestAt: null,
});
