import {
  type CronRecord,
  type DueAnswer,
  type DueQuery,
  type Job,
  readEach,
  type UnreadableRow,
  WaybillError,
  type WorkflowRecord,
} from '@waybill/core';
import type { Base } from './base.ts';
import { all, atMost, equals, more } from './conditions.ts';
import { cronOf } from './crons.ts';
import { inParallel } from './database.ts';
import { finishBatch } from './finish-batch.ts';
import { type Item, keyOf } from './items.ts';
import { duePartition, partsOf, partsOfKey } from './keys.ts';
import { admit } from './limits.ts';
import { readRows, withSides } from './read.ts';
import { fromItem } from './rows.ts';
import { workflowOf } from './workflow-items.ts';

/** Alarms looked at by one call, as a multiple of what is asked for: crons, limits and jobs share the index. */
const LOOK_AHEAD = 2;
const FEW = 10;

const kindOf = (entry: Item): string => {
  const { pk, sk } = keyOf(entry);
  return pk.startsWith('T#') ? sk.slice(0, 1) : pk.slice(0, 1);
};

/** What waits for its moment. Alarms may ring early, so the items themselves say what is due. */
export async function due(base: Base, { now, limit }: DueQuery): Promise<DueAnswer> {
  // Whoever waits for a retry waits for this, so what need not be one after the other is not.
  const [rung, later] = await Promise.all([ringing(base, now, limit), nextAlarm(base, now)]);
  const admitted: Job[] = [];
  const unreadable: UnreadableRow[] = [];
  /** One that is damaged, or that others keep changing, holds up no other. */
  const isolated = async (name: Omit<UnreadableRow, 'cause'>, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (cause) {
      if (cause instanceof WaybillError && cause.code === 'unavailable') throw cause;
      unreadable.push({ ...name, cause });
    }
  };
  for (const entry of rung.filter((one) => kindOf(one) === 'L')) {
    const [tenant, key] = partsOf(keyOf(entry).pk) as [string, string];
    await isolated({ kind: 'limit', tenant, id: key }, async () => {
      admitted.push(...(await admit(base, { tenant, key })));
    });
  }
  for (const entry of rung.filter((one) => kindOf(one) === 'B')) {
    const [id] = partsOf(keyOf(entry).pk) as [string];
    await isolated({ kind: 'batch', tenant: '', id }, () => finishBatch(base, id));
  }
  const [jobs, crons, workflows] = await Promise.all([
    dueJobs(base, rung, now, limit),
    dueCrons(base, rung, now, limit),
    dueWorkflows(base, rung, now, limit),
  ]);
  const moments = [jobs.next, crons.next, workflows.next, later].filter((moment) => moment !== null);
  return {
    jobs: jobs.due,
    crons: crons.due,
    workflows: workflows.due,
    admitted,
    unreadable: [...unreadable, ...jobs.unreadable, ...crons.unreadable, ...workflows.unreadable],
    nextAt: moments.length === 0 ? null : Math.min(...moments),
  };
}

/** Entries whose moment has come, earliest first. */
async function ringing(base: Base, now: number, limit: number): Promise<Item[]> {
  const shards = Array.from({ length: base.settings.dueShards }, (_, shard) => duePartition(shard));
  const most = LOOK_AHEAD * limit + FEW;
  const found = await inParallel(shards, (shard) =>
    base.db.queryAll({ index: 'due', where: all(equals('dp', shard), atMost('dn', now)), limit: most }, most),
  );
  return found.flat().sort((a, b) => (a['dn'] as number) - (b['dn'] as number));
}

interface Come<T> {
  due: T[];
  /** The moment of the first that was not answered. */
  next: number | null;
  unreadable: UnreadableRow[];
}

async function dueJobs(base: Base, rung: readonly Item[], now: number, limit: number): Promise<Come<Job>> {
  const rows = await readRows(base, rung.filter((entry) => kindOf(entry) === 'J').map(keyOf));
  const alive = rows.filter((row) => row !== undefined);
  const early = alive.filter((row) => row['nx'] !== undefined && (row['nx'] as number) > now);
  await inParallel(early, (row) => moveAlarm(base, row));
  const come = alive.filter((row) => row['nx'] !== undefined && (row['nx'] as number) <= now).sort(byMoment);
  const moments = [...come.slice(limit, limit + 1), ...early].map((row) => row['nx'] as number);
  const whole = await withSides(base, come.slice(0, limit));
  const { read, unreadable } = readEach(whole, fromItem, (item) => {
    const [tenant, id] = partsOf(keyOf(item).pk) as [string, string];
    return { kind: 'job', tenant, id };
  });
  return { due: read, next: moments.length === 0 ? null : Math.min(...moments), unreadable };
}

const byMoment = (a: Item, b: Item): number => (a['nx'] as number) - (b['nx'] as number);

/** It rang too early, as heartbeats leave it where it was. */
async function moveAlarm(base: Base, row: Item): Promise<void> {
  const isAsRead = all(equals('vr', row['vr']!), equals('nx', row['nx']!), equals('dn', row['dn'] ?? null));
  await base.db.write({ update: keyOf(row), change: { set: { dn: row['nx']! } }, if: isAsRead });
}

async function dueCrons(base: Base, rung: readonly Item[], now: number, limit: number): Promise<Come<CronRecord>> {
  const items = await base.db.getAll(rung.filter((entry) => kindOf(entry) === 'C').map(keyOf));
  const found = items.filter((item) => item !== undefined);
  const { read: crons, unreadable } = readEach(found, cronOf, (item) => {
    const [tenant, name] = partsOfKey(item);
    return { kind: 'cron', tenant, id: name };
  });
  const waiting = crons.filter((cron) => cron.enabled && cron.nextAt !== null).sort((a, b) => a.nextAt! - b.nextAt!);
  const come = waiting.filter((cron) => cron.nextAt! <= now);
  const moments = waiting.filter((cron) => !come.slice(0, limit).includes(cron)).map((cron) => cron.nextAt!);
  return { due: come.slice(0, limit), next: moments.length === 0 ? null : Math.min(...moments), unreadable };
}

async function dueWorkflows(
  base: Base,
  rung: readonly Item[],
  now: number,
  limit: number,
): Promise<Come<WorkflowRecord>> {
  const items = await base.db.getAll(rung.filter((entry) => kindOf(entry) === 'W').map(keyOf));
  const { read, unreadable } = readEach(
    items.filter((item) => item !== undefined),
    workflowOf,
    (item) => {
      const [tenant, id] = partsOfKey(item);
      return { kind: 'workflow', tenant, id };
    },
  );
  // The index may be late: one that has ended has no moment.
  const come = read.filter(({ nextAt }) => nextAt !== null && nextAt <= now).sort((a, b) => a.nextAt! - b.nextAt!);
  return { due: come.slice(0, limit), next: come[limit]?.nextAt ?? null, unreadable };
}

/** When the next one rings. The few first are looked at, since an early alarm would cut short everybody's sleep. */
async function nextAlarm(base: Base, now: number): Promise<number | null> {
  const shards = Array.from({ length: base.settings.dueShards }, (_, shard) => duePartition(shard));
  const pages = await inParallel(shards, (shard) =>
    base.db.query({ index: 'due', where: all(equals('dp', shard), more('dn', now)), limit: FEW }),
  );
  const entries = pages.flatMap(({ items }) => items).sort((a, b) => (a['dn'] as number) - (b['dn'] as number));
  const first = entries.slice(0, FEW);
  const jobs = first.filter((entry) => kindOf(entry) === 'J');
  const rows = await readRows(base, jobs.map(keyOf), { strong: false });
  const moments = first.flatMap((entry) => {
    const place = jobs.indexOf(entry);
    const row = rows[place];
    if (place < 0) return [entry['dn'] as number];
    // A row that is gone or finished has left the index too, sooner or later.
    return row?.['nx'] === undefined ? [] : [Math.max(row['nx'] as number, entry['dn'] as number)];
  });
  const beyond = pages.some(({ last }) => last) || entries.length > FEW ? [first.at(-1)!['dn'] as number] : [];
  return [...moments, ...beyond].reduce<number | null>(
    (least, one) => (least === null ? one : Math.min(least, one)),
    null,
  );
}
