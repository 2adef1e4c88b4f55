import type { Logger } from '@waybill/core';
import { WaybillError } from '@waybill/core';
import type { Link, Queryable } from './link/link.ts';

const DAY_MS = 86_400_000;
/** So many days have their partitions before they begin. */
const DAYS_AHEAD = 3;
const TABLES = ['job_bodies', 'job_ends'] as const;
/** Whoever waits for a lock on a parent makes all others wait behind it, so it is not waited for long. */
const LOCK_TIMEOUT = "set local lock_timeout = '200ms'";

/** The first id that can be made at a time. */
export function firstIdAt(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

export interface Day {
  /** Like 20261115: the end of its tables' names. */
  name: string;
  from: number;
  to: number;
}

const dayAt = (time: number): Day => {
  const from = Math.floor(time / DAY_MS) * DAY_MS;
  return { name: new Date(from).toISOString().slice(0, 10).replaceAll('-', ''), from, to: from + DAY_MS };
};

/** The days that have partitions of their own, oldest first. */
export async function daysOf(link: Link): Promise<Day[]> {
  const rows = await link.query<[string]>(link.sql(EXISTING));
  return rows.map(([name]) => dayAt(Date.parse(`${name.slice(0, 4)}-${name.slice(4, 6)}-${name.slice(6)}`)));
}

const EXISTING = `select substr(c.relname, 10) from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = '{schema}.job_ends'::regclass and c.relname ~ '^job_ends_[0-9]{8}$' order by 1`;

/**
 * Makes the partitions of today and the days ahead. Not having them costs nothing but the way of dropping old jobs as a
 * whole, since the default partition takes what has no other; so what cannot be had now is left for later.
 */
export async function addDays(link: Link, now: number, logger: Logger): Promise<void> {
  const known = new Set((await daysOf(link)).map(({ name }) => name));
  const wanted = Array.from({ length: DAYS_AHEAD + 1 }, (_, ahead) => dayAt(now + ahead * DAY_MS));
  for (const day of wanted.filter(({ name }) => !known.has(name))) {
    try {
      await link.transaction((tx) => addDay(link, tx, day));
    } catch (error) {
      // Somebody else made it, an old transaction is in the way, or jobs of that day went elsewhere already.
      logger.debug(
        { day: day.name, cause: error instanceof WaybillError ? error.cause : error },
        'A day was not added.',
      );
      return;
    }
  }
}

/** Made apart and attached: so the parent is locked for a moment only, and not against writers. */
async function addDay(link: Link, tx: Queryable, { name, from, to }: Day): Promise<void> {
  await tx.query(LOCK_TIMEOUT);
  for (const table of TABLES) {
    const part = `{schema}.${table}_${name}`;
    await tx.query(link.sql(`create table ${part} (like {schema}.${table} including all)`));
    const bounds = `from ('${firstIdAt(from)}') to ('${firstIdAt(to)}')`;
    await tx.query(link.sql(`alter table {schema}.${table} attach partition ${part} for values ${bounds}`));
  }
}

export interface Expiry {
  finishedBefore: number;
  deadBefore: number;
}

/**
 * Drops the days in which every job has ended and expired; answers how many jobs went. A day that is in use right now
 * is left for the next time.
 */
export async function dropDays(link: Link, expiry: Expiry): Promise<number> {
  let dropped = 0;
  for (const day of await daysOf(link)) {
    if (day.to > expiry.finishedBefore) break;
    if (await isKept(link, link, day, expiry)) continue;
    try {
      dropped += await link.transaction((tx) => dropDay(link, tx, day, expiry));
    } catch (error) {
      if (!isLocked(error)) throw error;
    }
  }
  return dropped;
}

const isLocked = (error: unknown): boolean =>
  error instanceof WaybillError &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  error.cause.code === '55P03';

/** Whether a job of the day lives, has not expired, or is a node of a workflow that has not. */
async function isKept(link: Link, from: Queryable, { name, from: begin, to }: Day, expiry: Expiry): Promise<boolean> {
  const text = `select
    exists (select 1 from {schema}.job_ends_${name} where finished_at >= $1 and not dead)
    or exists (select 1 from {schema}.job_ends_${name} where finished_at >= $2 and dead)
    or exists (select 1 from {schema}.jobs_live where id >= $3::uuid and id < $4::uuid)
    or exists (select 1 from {schema}.bundles where last_id >= $3::uuid and first_id < $4::uuid)
    or exists (
      select 1 from {schema}.job_bodies_${name} b
      join {schema}.workflows w on w.tenant = b.tenant and w.id = b.workflow_id
      join {schema}.job_ends_${name} e on e.tenant = b.tenant and e.id = b.id
      where b.workflow_id is not null
        and (w.finished_at is null or w.finished_at >= case when e.dead then $2 else $1 end)
    )`;
  const { finishedBefore, deadBefore } = expiry;
  const [row] = await from.query<[boolean]>(link.sql(text), [
    finishedBefore,
    deadBefore,
    firstIdAt(begin),
    firstIdAt(to),
  ]);
  return row![0];
}

async function dropDay(link: Link, tx: Queryable, day: Day, expiry: Expiry): Promise<number> {
  await tx.query(LOCK_TIMEOUT);
  const parts = TABLES.map((table) => `{schema}.${table}_${day.name}`).join(', ');
  await tx.query(link.sql(`lock table ${parts} in access exclusive mode`));
  // Asked again, now that nobody can bring a job back to life.
  if (await isKept(link, tx, day, expiry)) return 0;
  const [row] = await tx.query<[number]>(link.sql(`select count(*) from {schema}.job_ends_${day.name}`));
  const range = [firstIdAt(day.from), firstIdAt(day.to)];
  for (const [table, column] of [
    ['idempotency_keys', 'job_id'],
    ['unique_keys', 'job_id'],
    ['edges', 'child'],
    ['progress', 'id'],
  ] as const) {
    await tx.query(
      link.sql(`delete from {schema}.${table} where ${column} >= $1::uuid and ${column} < $2::uuid`),
      range,
    );
  }
  await tx.query(link.sql(`drop table ${parts}`));
  return row![0];
}
