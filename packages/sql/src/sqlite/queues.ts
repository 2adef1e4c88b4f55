import { isDeepStrictEqual } from 'node:util';
import type { LimitRule, QueueInfo, QueueStats, Told } from '@waybill/core';
import { isSamePeriod, type RuleCells, ruleCells, ruleOf } from '../limit-rows.ts';
import type { Input } from './protocol.ts';
import { countFrom } from './read.ts';
import type { Session } from './session.ts';
import { ACTIVE, PARKED, PENDING, READY, RETRYABLE, SCHEDULED, type Source } from './sources.ts';

export function listQueues({ sql }: Session, tenant: string): QueueInfo[] {
  const rows = sql['queue-list'].all<[string, number, number, ...RuleCells]>(tenant);
  return rows.map(([name, paused, keeps, ...rule]) => info(tenant, name, paused, keeps, ruleOf(...rule)));
}

const info = (tenant: string, name: string, paused: number, keeps: number, limit: LimitRule | null): QueueInfo => ({
  tenant,
  name,
  paused: paused === 1,
  keep: keeps === 1 ? 'all' : 'none',
  limit,
});

/** A queue that nobody has heard of. */
const unknown = (tenant: string, name: string): QueueInfo => info(tenant, name, 0, 1, null);

interface Queue {
  info: QueueInfo;
  active: number;
  starts: string | null;
  ended: { completed: number; cancelled: number; discarded: number };
}

type QueueCells = [number, number, ...RuleCells, number, string | null, number, number, number];

function read({ sql }: Session, tenant: string, name: string): Queue | null {
  const found = sql['queue-get'].get<QueueCells>(tenant, name);
  if (found === undefined) return null;
  const [paused, keeps, concurrency, rateLimit, ratePeriodMs, active, starts, completed, cancelled, discarded] = found;
  const limit = ruleOf(concurrency, rateLimit, ratePeriodMs);
  return { info: info(tenant, name, paused, keeps, limit), active, starts, ended: { completed, cancelled, discarded } };
}

const infoOf = (session: Session, tenant: string, name: string): QueueInfo =>
  read(session, tenant, name)?.info ?? unknown(tenant, name);

export function queueStats(session: Session, { tenant, name, atMost }: Input<'queueStats'>): QueueStats | null {
  const queue = read(session, tenant, name);
  if (queue === null) return null;
  const { info, active, ended } = queue;
  const count = (source: Source) => countFrom(session, source, { tenant, queues: [name] }, atMost);
  return {
    ...info,
    available: count(READY),
    parked: count(PARKED),
    scheduled: count(SCHEDULED),
    retryable: count(RETRYABLE),
    pending: count(PENDING),
    active: info.limit === null ? count(ACTIVE) : Math.min(active, atMost),
    ...ended,
    oldestAt: session.sql['queue-first'].get<[number | null]>(tenant, name)?.[0] ?? null,
  };
}

export function setPaused(session: Session, { tenant, name, paused, told }: Input<'setPaused'>): QueueInfo {
  const before = infoOf(session, tenant, name);
  session.sql[paused ? 'queue-pause' : 'queue-resume'].run(tenant, name);
  if (!paused) session.wake(name);
  return tellChange(session, before, told);
}

export function setKeep(session: Session, { tenant, name, keep, told }: Input<'setKeep'>): QueueInfo {
  const before = read(session, tenant, name);
  // Asking for what every queue does anyway makes no queue.
  if (keep === 'none' || before !== null) session.sql['queue-keep'].run(tenant, name, keep === 'all' ? 1 : 0);
  session.queueSettingsChanged();
  return tellChange(session, before?.info ?? unknown(tenant, name), told);
}

export function setQueueLimit(session: Session, { tenant, name, limit, told }: Input<'setQueueLimit'>): QueueInfo {
  const before = read(session, tenant, name);
  // Taking away what was never there makes no queue.
  if (before !== null || limit !== null) writeRule(session, tenant, name, before, limit);
  session.queueSettingsChanged();
  session.wake(name);
  return tellChange(session, before?.info ?? unknown(tenant, name), told);
}

/** Tells of a change that made a difference; answers the queue as it is now. */
function tellChange(session: Session, before: QueueInfo, told: Told | null): QueueInfo {
  const after = infoOf(session, before.tenant, before.name);
  if (told && !isDeepStrictEqual(before, after)) session.tell(told);
  return after;
}

/** Runs are counted only while there is a limit, so a first one begins with counting those under way. */
function writeRule(
  { sql }: Session,
  tenant: string,
  name: string,
  before: Queue | null,
  limit: LimitRule | null,
): void {
  const was = before?.info.limit ?? null;
  const counted = () => sql['queue-active'].get<[number]>(tenant, name)![0];
  const active = limit === null ? 0 : was === null ? counted() : before!.active;
  const starts = isSamePeriod(was, limit) ? (before?.starts ?? null) : null;
  sql['queue-rule'].run(tenant, name, ...ruleCells(limit), active, starts);
}
