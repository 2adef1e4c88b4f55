import { nextAdmission, type OpeningQuery } from '@waybill/core';
import type { Base } from './base.ts';
import { equals } from './conditions.ts';
import { inParallel } from './database.ts';
import { queueKey, readyPartition } from './keys.ts';
import { gateOf } from './queue-gate.ts';

/**
 * When a rate lets go of something that a ready job waits for. Asked after each look in vain, so only of queues that this
 * process knows to be limited, which the look has just told: all others cost nothing.
 */
export async function opensAt(base: Base, { tenant, queues, now }: OpeningQuery): Promise<number | null> {
  const limited = queues.filter((queue) => base.queues.isLimited(tenant, queue));
  const moments = await inParallel(limited, (queue) => openingOf(base, tenant, queue, now));
  const known = moments.filter((moment) => moment !== null);
  return known.length === 0 ? null : Math.min(...known);
}

async function openingOf(base: Base, tenant: string, queue: string, now: number): Promise<number | null> {
  const item = await base.db.get(queueKey(tenant, queue));
  const { isPaused, limited, shards } = await gateOf(base, tenant, queue, item, 'unread', now);
  if (isPaused || limited === null) return null;
  const use = { holders: limited.running.length, unclaimed: 0, window: limited.window };
  const moment = nextAdmission(limited.rule, use, now);
  if (moment === null) return null;
  const lines = Array.from({ length: shards }, (_, shard) => readyPartition(tenant, queue, shard));
  const heads = await inParallel(lines, (line) =>
    base.db.query({ index: 'ready', where: equals('rq', line), limit: 1 }),
  );
  return heads.some(({ items }) => items.length > 0) ? moment : null;
}
