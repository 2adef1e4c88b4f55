import { isLockHeld, type Logger, WaybillError } from '@waybill/core';
import { codeOf } from './link/failures.ts';
import type { Link, Queryable } from './link/link.ts';

const DAY_MS = 86_400_000;
/** So many days have their partitions before they begin. */
const DAYS_AHEAD = 3;
/** What jobs are made of. Their journals have the same days, but go at times of their own. */
export const TABLES = ['job_bodies', 'job_ends'] as const;
const DAILY = [...TABLES, 'journal'] as const;
/** Whoever waits for a lock on a parent makes all others wait behind it, so it is not waited for long. */
export const LOCK_WAIT_MS = 200;
/** So many jobs are moved from one partition to another while nobody can use either. */
export const MOST_MOVED = 5_000;
const ALREADY_THERE = '42P07';

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

export const dayAt = (time: number): Day => {
  const from = Math.floor(time / DAY_MS) * DAY_MS;
  return { name: new Date(from).toISOString().slice(0, 10).replaceAll('-', ''), from, to: from + DAY_MS };
};

/** The days that have partitions of their own, oldest first. */
export async function daysOf(link: Link, table: 'job_ends' | 'journal' = 'job_ends'): Promise<Day[]> {
  const text = `select right(c.relname, 8) from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = '{schema}.${table}'::regclass and c.relname ~ '^${table}_[0-9]{8}$' order by 1`;
  const rows = await link.query<[string]>(link.sql(text));
  return rows.map(([name]) => dayAt(Date.parse(`${name.slice(0, 4)}-${name.slice(4, 6)}-${name.slice(6)}`)));
}

/**
 * Makes the partitions of today and the days ahead. Not having them costs nothing but the way of dropping old jobs as a
 * whole, since the default partition takes what has no other; so what cannot be had now is left for later, and keeps no
 * other day from being added.
 */
export async function addDays(link: Link, now: number, logger: Logger): Promise<void> {
  const known = new Set((await daysOf(link)).map(({ name }) => name));
  const wanted = Array.from({ length: DAYS_AHEAD + 1 }, (_, ahead) => dayAt(now + ahead * DAY_MS));
  for (const day of wanted.filter(({ name }) => !known.has(name))) {
    try {
      const strays = await straysOf(link, day);
      await link.transaction((tx) => addDay(link, tx, day, strays > 0), { lockWaitMs: LOCK_WAIT_MS });
      if (strays > 0) logger.info({ day: day.name, jobs: strays }, 'Jobs that came before their day moved into it.');
    } catch (error) {
      tellNotAdded(logger, day, error);
    }
  }
}

/** Another process made it, or an old transaction is in the way: both pass by themselves. Of the rest the log is told. */
function tellNotAdded(logger: Logger, { name }: Day, error: unknown): void {
  const cause = error instanceof WaybillError ? (error.cause ?? error) : error;
  const passes = isLockHeld(error) || codeOf(cause) === ALREADY_THERE;
  logger[passes ? 'debug' : 'warn'](
    { day: name, cause },
    'A day was not added. Its jobs will be removed one by one instead of all at once.',
  );
}

/** The jobs of a day that are in the default partition, because their ids were made ahead of their time. */
async function straysOf(link: Link, { from, to, name }: Day): Promise<number> {
  const counts = DAILY.map(
    (table) => `(select count(*) from (
      select 1 from {schema}.${table}_other where id >= $1::uuid and id < $2::uuid limit $3) strays)`,
  );
  const [row] = await link.query<number[]>(link.sql(`select ${counts.join(', ')}`), [
    firstIdAt(from),
    firstIdAt(to),
    MOST_MOVED + 1,
  ]);
  const found = Math.max(...row!);
  if (found <= MOST_MOVED) return found;
  throw new Error(`More than ${MOST_MOVED} jobs of the day ${name} are in the default partition.`);
}

/**
 * Made apart and attached: so the parent is locked for a moment only, and not against writers. Jobs of the day that the
 * default partition has taken in move first, and nobody adds another one meanwhile.
 */
async function addDay(link: Link, tx: Queryable, { name, from, to }: Day, hasStrays: boolean): Promise<void> {
  const range = [firstIdAt(from), firstIdAt(to)] as const;
  if (hasStrays) {
    const others = DAILY.map((table) => `{schema}.${table}_other`).join(', ');
    await tx.query(link.sql(`lock table ${others} in access exclusive mode`));
  }
  for (const table of DAILY) {
    const part = `{schema}.${table}_${name}`;
    await tx.query(link.sql(`create table ${part} (like {schema}.${table} including all)`));
    if (hasStrays) {
      const moved = `delete from {schema}.${table}_other where id >= $1::uuid and id < $2::uuid returning *`;
      await tx.query(link.sql(`with moved as (${moved}) insert into ${part} select * from moved`), range);
    }
    const bounds = `from ('${range[0]}') to ('${range[1]}')`;
    await tx.query(link.sql(`alter table {schema}.${table} attach partition ${part} for values ${bounds}`));
  }
}
