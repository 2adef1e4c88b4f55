import { claimed, freeSlots, type LimitRule, type LimitUse, nextAdmission, type OpeningQuery } from '@waybill/core';
import { ruleOf, windowCell, windowOf } from '../limit-rows.ts';
import type { Session } from './session.ts';

/** What a queue lets through right now. */
export interface Gate {
  isPaused: boolean;
  room: number;
  limited: { tenant: string; queue: string; rule: LimitRule; use: LimitUse } | null;
}

const OPEN: Gate = { isPaused: false, room: Number.POSITIVE_INFINITY, limited: null };

type GateCells = [number, number | null, number | null, number | null, number, string | null];

/** Read anew for each claim: another process may have paused or limited the queue, or claimed from it. */
export function gateOf({ sql }: Session, tenant: string, queue: string, now: number): Gate {
  const found = sql['queue-gate'].get<GateCells>(tenant, queue);
  if (found === undefined) return OPEN;
  const [paused, concurrency, rateLimit, ratePeriodMs, active, starts] = found;
  const isPaused = paused === 1;
  const rule = ruleOf(concurrency, rateLimit, ratePeriodMs);
  if (rule === null) return { ...OPEN, isPaused };
  // A queue gives nothing out before the claim, so nobody holds a place without running.
  const use = { holders: active, unclaimed: 0, window: windowOf(starts) };
  return { isPaused, room: freeSlots(rule, use, now), limited: { tenant, queue, rule, use } };
}

export function countQueueStarts({ sql }: Session, { limited }: Gate, count: number, now: number): void {
  if (limited === null || count === 0) return;
  const { tenant, queue, rule, use } = limited;
  sql['queue-started'].run(tenant, queue, count, windowCell(claimed(rule, use, count, now).window));
}

/** When a rate lets go of something that a ready job waits for. */
export function opensAt(session: Session, { tenant, queues, now }: OpeningQuery): number | null {
  const moments = queues.flatMap((queue) => {
    const { isPaused, limited } = gateOf(session, tenant, queue, now);
    if (isPaused || limited === null) return [];
    const isAwaited = session.sql['queue-first'].get(tenant, queue) !== undefined;
    return (isAwaited ? nextAdmission(limited.rule, limited.use, now) : null) ?? [];
  });
  return moments.length === 0 ? null : Math.min(...moments);
}
