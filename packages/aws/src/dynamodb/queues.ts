import { isDeepStrictEqual } from 'node:util';
import {
  type Job,
  type LimitRule,
  type QueueInfo,
  type QueueKeep,
  type QueueStats,
  rankOf,
  type Told,
  WaybillError,
} from '@waybill/core';
import type { Base } from './base.ts';
import { all, equals } from './conditions.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { number } from './items.ts';
import { gateKey, queueKey } from './keys.ts';
import { ruleOf, ruleText, windowOf, windowUnder } from './limit-items.ts';
import { inChunks } from './list.ts';
import { gateWrite } from './queue-gate.ts';
import { infoOf, queueItems } from './queue-items.ts';
import { MOST_CONCURRENT, runNames } from './run-names.ts';
import { runsUnderWay } from './runs-under-way.ts';
import { type Planned, writeAndTell } from './tell.ts';
import type { Update } from './writes.ts';

/** Rows looked at to count a queue by state; a longer queue answers what it has found by then. */
const MOST_LOOKED_AT = 10_000;

export async function listQueues(base: Base, tenant: string): Promise<QueueInfo[]> {
  const items = await queueItems(base, tenant);
  return [...items].map(([name, item]) => infoOf(tenant, name, item)).sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function queueStats(base: Base, tenant: string, name: string, atMost: number): Promise<QueueStats | null> {
  const item = await base.db.get(queueKey(tenant, name));
  if (!item) return null;
  const jobs = await jobsOf(base, tenant, name);
  const counted = (test: (job: Job) => boolean): number => Math.min(atMost, jobs.filter(test).length);
  const inState = (state: Job['state']): number => counted((job) => job.state === state);
  const ready = jobs.filter((job) => job.rank !== null);
  const first = ready.reduce<Job | null>((least, job) => (least === null || isBefore(job, least) ? job : least), null);
  return {
    ...infoOf(tenant, name, item),
    available: counted((job) => job.rank !== null),
    parked: counted((job) => job.state === 'available' && job.rank === null),
    scheduled: inState('scheduled'),
    retryable: inState('retryable'),
    pending: inState('pending'),
    active: inState('active'),
    completed: number(item, 'tc') ?? 0,
    cancelled: number(item, 'tk') ?? 0,
    discarded: number(item, 'td') ?? 0,
    oldestAt: first?.enqueuedAt ?? null,
  };
}

const isBefore = (a: Job, b: Job): boolean => rankOf(a.priority, a.seq) < rankOf(b.priority, b.seq);

async function jobsOf(base: Base, tenant: string, queue: string): Promise<Job[]> {
  const found: Job[] = [];
  for await (const chunk of inChunks(base, { tenant, queues: [queue] }, undefined, () => MOST_LOOKED_AT)) {
    found.push(...chunk.flatMap(({ job }) => job ?? []));
    if (found.length >= MOST_LOOKED_AT) break;
  }
  return found;
}

export async function setPaused(
  base: Base,
  tenant: string,
  name: string,
  paused: boolean,
  told?: Told,
): Promise<QueueInfo> {
  return change(base, tenant, name, paused ? { set: { pa: 1 } } : { remove: ['pa'] }, paused, told);
}

export async function setKeep(
  base: Base,
  tenant: string,
  name: string,
  keep: QueueKeep,
  told?: Told,
): Promise<QueueInfo> {
  const update = keep === 'none' ? { set: { kn: 1 } } : { remove: ['kn'] };
  const info = await change(base, tenant, name, update, keep === 'none', told);
  base.queues.noteKeep(tenant, name, info.keep === 'none' ? { kn: 1 } : undefined);
  return info;
}

export async function setQueueLimit(
  base: Base,
  tenant: string,
  name: string,
  limit: LimitRule | null,
  told?: Told,
): Promise<QueueInfo> {
  if ((limit?.concurrency ?? 0) > MOST_CONCURRENT) {
    throw new WaybillError(
      'unsupported',
      `On DynamoDB a queue runs at most ${MOST_CONCURRENT} jobs at once by a limit.`,
    );
  }
  const before = await base.db.get(queueKey(tenant, name));
  if (before || limit) await countRunning(base, tenant, name, before ? ruleOf(before) : null, limit);
  const rule = ruleText(limit);
  const update = rule === null ? { remove: ['ru'] } : { set: { ru: rule } };
  const info = await change(base, tenant, name, update, limit !== null, told);
  base.queues.noteLimited(tenant, name, limit !== null);
  return info;
}

/** Runs are noted only while there is a limit, so a first one begins with those under way. */
async function countRunning(base: Base, tenant: string, name: string, was: LimitRule | null, rule: LimitRule | null) {
  for (let round = 0; round < MOST_TRIES; round++) {
    const found = (await base.db.get(gateKey(tenant, name))) ?? {};
    const noted = (found['ru'] as readonly string[] | undefined) ?? [];
    const running = was === null && rule !== null ? await runningIn(base, tenant, name) : noted;
    const window = windowUnder(rule, was, windowOf(found));
    const write = gateWrite(tenant, name, number(found, 'v') ?? 0, running, window);
    if (await base.db.writeOnce(write)) return;
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The queue ${name}`);
}

/** By their alarms, and the newest jobs by their rows too: the alarm of a run that has just begun may not be indexed yet. */
async function runningIn(base: Base, tenant: string, name: string): Promise<string[]> {
  const newest = (await jobsOf(base, tenant, name)).filter((job) => job.state === 'active');
  return [...new Set([...(await runsUnderWay(base, tenant, name)), ...runNames(newest)])];
}

/** Undoing what was never done makes no queue. */
async function change(
  base: Base,
  tenant: string,
  name: string,
  update: Update,
  makesQueue: boolean,
  told?: Told,
): Promise<QueueInfo> {
  const key = queueKey(tenant, name);
  if (told) {
    const info = await writeAndTell(base, told, () => planChange(base, tenant, name, update, makesQueue));
    base.wakes.queue(name);
    return info;
  }
  if (!makesQueue && !(await base.db.get(key))) return infoOf(tenant, name, undefined);
  const written = await base.db.write({ update: key, change: update });
  base.wakes.queue(name);
  return infoOf(tenant, name, written.ok ? written.item : undefined);
}

/** The columns of a queue's settings. Its totals stand beside them and change all the time. */
const SETTINGS = ['pa', 'kn', 'ru'] as const;

async function planChange(
  base: Base,
  tenant: string,
  name: string,
  update: Update,
  makesQueue: boolean,
): Promise<Planned<QueueInfo>> {
  const key = queueKey(tenant, name);
  const item = await base.db.get(key);
  const before = infoOf(tenant, name, item);
  if (!item && !makesQueue) return { answer: before, write: null };
  const kept = Object.entries(item ?? {}).filter(([column]) => !update.remove?.includes(column));
  const answer = infoOf(tenant, name, { ...Object.fromEntries(kept), ...update.set });
  if (isDeepStrictEqual(answer, before)) return { answer, write: null };
  const asRead = all(...SETTINGS.map((column) => equals(column, item?.[column] ?? null)));
  return { answer, write: { update: key, change: update, if: asRead } };
}
