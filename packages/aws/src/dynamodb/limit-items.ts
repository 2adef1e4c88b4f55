import { type LimitRule, type LimitUse, nextLook, rankOf, type Window } from '@waybill/core';
import type { Base } from './base.ts';
import { all, between, equals } from './conditions.ts';
import { type Item, number, present, text } from './items.ts';
import { limitKey, limitPk, partsOf } from './keys.ts';
import { alarmAt, secondsOf } from './rows.ts';
import { type Settings, unusedMsOf } from './settings.ts';
import type { Write } from './writes.ts';

/** Without a rule slots are counted and never refused. */
export const NO_RULE: LimitRule = { concurrency: null, rate: null };

/** A limit as it was read. Every write of it raises `version`, so whoever decided by an older one is refused. */
export interface Limit {
  tenant: string;
  key: string;
  version: number;
  rule: LimitRule | null;
  /** Whether somebody has set the rule; else it came with a job. */
  isSetting: boolean;
  use: LimitUse;
}

/** A job that waits for a slot. */
export interface Waiting {
  rank: string;
  id: string;
}

export const ruleText = (rule: LimitRule | null): string | null =>
  rule && JSON.stringify([rule.concurrency, rule.rate]);

export function ruleOf(item: Item): LimitRule | null {
  const rule = text(item, 'ru');
  if (rule === null) return null;
  const [concurrency, rate] = JSON.parse(rule) as [number | null, LimitRule['rate']];
  return { concurrency, rate };
}

export const windowOf = (item: Item): Window => JSON.parse(text(item, 'wi') ?? '[]') as Window;
export const windowText = (window: Window): string | null => (window.length === 0 ? null : JSON.stringify(window));

/** A window counts in tenths of its period, so it means nothing under another one and begins anew. */
export const windowUnder = (rule: LimitRule | null, before: LimitRule | null, window: Window): Window =>
  rule?.rate?.periodMs === before?.rate?.periodMs ? window : [];

export function limitOf(tenant: string, key: string, item: Item | undefined): Limit {
  const found = item ?? {};
  const use = { holders: number(found, 'ho') ?? 0, unclaimed: number(found, 'un') ?? 0, window: windowOf(found) };
  // A rule from before it was noted where rules come from counts as set by somebody.
  const isSetting = 'ru' in found && !('jr' in found);
  return { tenant, key, version: number(found, 'v') ?? 0, rule: ruleOf(found), isSetting, use };
}

/** The limit and those who stand first in line, as they are now, in one request. */
export async function readLimit(
  { db }: Base,
  tenant: string,
  key: string,
  most: number,
): Promise<{ limit: Limit; line: Waiting[] }> {
  const where = all(equals('pk', limitPk(tenant, key)), between('sk', 'L', 'P~'));
  const items = await db.queryAll({ where, limit: most + 1 }, most + 1);
  const own = items.find((item) => item['sk'] === 'L');
  return { limit: limitOf(tenant, key, own), line: items.filter((item) => item !== own).map(waitingOf) };
}

function waitingOf(item: Item): Waiting {
  const [rank, id] = partsOf(item['sk'] as string) as [string, string];
  return { rank, id };
}

export const placeOf = (job: { priority: number; seq: number; id: string }): Waiting => ({
  rank: rankOf(job.priority, job.seq),
  id: job.id,
});

/**
 * Only a rate lets somebody in by itself, and only then the limit needs an alarm. A limit that came with jobs and that no job
 * holds or waits for expires. A job that needs it later brings its rule back.
 */
export function limitWrite(limit: Limit, after: Limit, isAwaited: boolean, now: number, settings: Settings): Write {
  const { tenant, key, rule, isSetting, use } = after;
  const isIdle = !isSetting && use.holders === 0 && !isAwaited;
  const freeAt = rule !== null && isAwaited ? nextLook(rule, use, now) : null;
  const item = present({
    ...limitKey(tenant, key),
    v: limit.version + 1,
    ru: ruleText(rule),
    ho: use.holders,
    un: use.unclaimed,
    wi: windowText(use.window),
    jr: isSetting ? null : 1,
    x: isIdle ? secondsOf(now + unusedMsOf(settings)) : null,
    ...alarmAt(freeAt, `${tenant} ${key}`, settings),
  });
  return { put: item, if: equals('v', limit.version === 0 ? null : limit.version) };
}
