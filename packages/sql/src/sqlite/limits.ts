import {
  admitted,
  claimed,
  freeSlots,
  type LimitInfo,
  type LimitRule,
  type LimitUse,
  nextLook,
  rankFor,
  USE_NOTED_EVERY_MS,
} from '@waybill/core';
import { isSamePeriod, isSameRule, NO_RULE, ruleCells, ruleOf, windowCell, windowOf } from '../limit-rows.ts';
import { jobRows } from './job-rows.ts';
import type { Input } from './protocol.ts';
import { AT, headOf, type Row } from './rows.ts';
import type { Session } from './session.ts';

interface Limit {
  rule: LimitRule | null;
  use: LimitUse;
  usedAt: number | null;
}

/** What a write to one row means for the counts of its limit. */
export interface Shift {
  holders: number;
  unclaimed: number;
}

const NO_SHIFT: Shift = { holders: 0, unclaimed: 0 };

/** More are counted by nobody who only wants to know whether there are many. */
const MOST_PARKED_COUNTED = 10_000;

export const isUnclaimed = (state: string, holdsSlot: number): number => (state === 'active' ? 0 : holdsSlot);

type LimitCells = [number | null, number | null, number | null, number, number, string | null, number | null];

function read({ sql }: Session, tenant: string, key: string): Limit | null {
  const found = sql['limit-get'].get<LimitCells>(tenant, key);
  if (found === undefined) return null;
  const [concurrency, rateLimit, ratePeriodMs, holders, unclaimed, starts, usedAt] = found;
  const use = { holders, unclaimed, window: windowOf(starts) };
  return { rule: ruleOf(concurrency, rateLimit, ratePeriodMs), use, usedAt };
}

/** A limit that was removed because nobody used it has no use yet; `rule` is what the job that needs it again came with. */
function readOrMake(session: Session, tenant: string, key: string, rule: LimitRule | null = null): Limit {
  const found = read(session, tenant, key);
  if (found !== null) return found;
  noteLimit(session, tenant, key, rule);
  return read(session, tenant, key)!;
}

/** Only a rate lets somebody in by itself; whoever settles lets in the others. */
function write({ sql }: Session, tenant: string, key: string, { rule, use, usedAt }: Limit, now: number): void {
  const freeAt = rule === null ? null : nextLook(rule, use, now);
  const isAwaited = freeAt !== null && sql['parked-any'].get<[number]>(tenant, key)![0] === 1;
  const { holders, unclaimed, window } = use;
  sql['limit-use'].run(tenant, key, holders, unclaimed, windowCell(window), isAwaited ? freeAt : null);
  if (usedAt === null || Math.abs(now - usedAt) >= USE_NOTED_EVERY_MS) sql['limit-used'].run(tenant, key, now);
}

/**
 * Counts what a write has changed and gives every slot that is free now to the parked jobs that stand first in line;
 * answers their rows.
 */
export function admit(
  session: Session,
  tenant: string,
  key: string,
  now: number,
  shift = NO_SHIFT,
  rule: LimitRule | null = null,
): Row[] {
  const limit = readOrMake(session, tenant, key, rule);
  const counted = shifted(limit.use, shift);
  const free = freeSlots(limit.rule ?? NO_RULE, counted, now);
  const rows = free === 0 ? [] : jobRows(session.sql['parked-next'], tenant, key, Number.isFinite(free) ? free : -1);
  for (const row of rows) giveSlot(session, row);
  write(session, tenant, key, { ...limit, use: admitted(counted, rows.length) }, now);
  return rows;
}

/** Counts what a write has changed where it makes nobody's slot free. */
export function count(session: Session, tenant: string, key: string, now: number, shift: Shift): void {
  const limit = readOrMake(session, tenant, key);
  write(session, tenant, key, { ...limit, use: shifted(limit.use, shift) }, now);
}

const shifted = (use: LimitUse, { holders, unclaimed }: Shift): LimitUse => ({
  ...use,
  holders: use.holders + holders,
  unclaimed: use.unclaimed + unclaimed,
});

function giveSlot(session: Session, row: Row): void {
  row[AT.holdsSlot] = 1;
  row[AT.rank] = rankFor(headOf(row));
  session.sql.admit.run(row[AT.tenant], row[AT.id], row[AT.rank]);
  session.wake(row[AT.queue]);
}

/** Holders were claimed: from now on they count as starts. */
export function countStarts(session: Session, tenant: string, key: string, count: number, now: number): void {
  const limit = readOrMake(session, tenant, key);
  write(session, tenant, key, { ...limit, use: claimed(limit.rule ?? NO_RULE, limit.use, count, now) }, now);
}

/** Makes a key known, and sets the rule that a job brings with it. */
export function noteLimit(session: Session, tenant: string, key: string, rule: LimitRule | null): void {
  if (rule === null) session.sql['limit-note'].run(tenant, key);
  else setRule(session, tenant, key, rule);
}

function setRule(session: Session, tenant: string, key: string, rule: LimitRule): void {
  const before = read(session, tenant, key);
  if (before && isSameRule(before.rule, rule)) return;
  const starts = before && isSamePeriod(before.rule, rule) ? windowCell(before.use.window) : null;
  session.sql['limit-rule'].run(tenant, key, ...ruleCells(rule), starts);
}

export function setLimit(session: Session, { tenant, key, rule, now }: Input<'setLimit'>): Row[] {
  setRule(session, tenant, key, rule);
  session.sql['limit-set'].run(tenant, key);
  return admit(session, tenant, key, now);
}

export function getLimit(session: Session, { tenant, key }: Input<'getLimit'>): LimitInfo | null {
  const limit = read(session, tenant, key);
  if (limit === null) return null;
  const [parked] = session.sql['parked-count'].get<[number]>(tenant, key, MOST_PARKED_COUNTED)!;
  return { tenant, key, rule: limit.rule, holders: limit.use.holders, parked };
}
