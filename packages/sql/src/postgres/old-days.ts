import { isLockHeld, type Logger } from '@waybill/core';
import type { Link, Queryable } from './link/link.ts';
import { type Day, daysOf, firstIdAt, LOCK_WAIT_MS, MOST_MOVED, TABLES } from './partitions.ts';

/** To count the jobs of a day and to forget their keys may take a while, and holds up no reader. */
const TIMEOUT_MS = 60_000;
/** A day that could not be dropped is left alone for so long. */
const PAUSE_MS = 3_600_000;

export interface Expiry {
  finishedBefore: number;
  deadBefore: number;
}

/**
 * Drops the days that are over. What of a day is still needed, dead letters and jobs that wait, moves to the default
 * partition first: a partition for each day that has one would cost every statement a lock.
 */
export class OldDays {
  readonly #link: Link;
  readonly #logger: Logger;
  readonly #failedAt = new Map<string, number>();

  constructor(link: Link, logger: Logger) {
    this.#link = link;
    this.#logger = logger;
  }

  /** Answers how many jobs went. A day that is in use right now is left for the next time. */
  async drop(expiry: Expiry): Promise<number> {
    const link = this.#link;
    let dropped = 0;
    for (const day of await daysOf(link)) {
      if (day.to > expiry.finishedBefore) break;
      if (this.#isPaused(day)) continue;
      try {
        if (await isNeeded(link, link, day, expiry)) continue;
        const options = { lockWaitMs: LOCK_WAIT_MS, timeoutMs: TIMEOUT_MS };
        dropped += await link.transaction((tx) => dropDay(link, tx, day, expiry), options);
      } catch (error) {
        if (!isLockHeld(error)) this.#failed(day, error);
      }
    }
    return dropped;
  }

  #isPaused({ name }: Day): boolean {
    const failedAt = this.#failedAt.get(name);
    return failedAt !== undefined && this.#link.clock.monotonic() - failedAt < PAUSE_MS;
  }

  #failed({ name }: Day, error: unknown): void {
    this.#failedAt.set(name, this.#link.clock.monotonic());
    this.#logger.warn(
      { day: name, err: error },
      'An old day of jobs could not be dropped. It is tried again in an hour.',
    );
  }
}

const rangeOf = ({ from, to }: Day) => [firstIdAt(from), firstIdAt(to)] as const;

/** Dead letters that have not expired; `$3` is when they do. */
const keptEnds = (name: string) => `select e.* from {schema}.job_ends_${name} e where e.dead and e.finished_at >= $3`;

/** Whether one of these keys or bodies belongs to a job that lives, or to a dead letter that is kept. */
const belongsToKept = (name: string, table: string, column: string) => `(
  exists (select 1 from {schema}.jobs_live l where l.tenant = ${table}.tenant and l.id = ${table}.${column})
  or exists (${keptEnds(name)} and e.tenant = ${table}.tenant and e.id = ${table}.${column})
)`;

/** Whether jobs of the day run in bundles, ended too late to go, or are nodes of a workflow that did, or too many stay. */
async function isNeeded(link: Link, from: Queryable, day: Day, expiry: Expiry): Promise<boolean> {
  const text = `select
    exists (select 1 from {schema}.job_ends_${day.name} where finished_at >= $4 and not dead)
    or exists (select 1 from {schema}.bundles where last_id >= $1::uuid and first_id < $2::uuid)
    or exists (
      select 1 from {schema}.job_bodies_${day.name} b
      join {schema}.workflows w on w.tenant = b.tenant and w.id = b.workflow_id
      join {schema}.job_ends_${day.name} e on e.tenant = b.tenant and e.id = b.id
      where b.workflow_id is not null
        and (w.finished_at is null or w.finished_at >= case when e.dead then $3 else $4 end)
    )
    or ${MOST_MOVED} < (
      select count(*) from (
        (select 1 from {schema}.jobs_live where id >= $1::uuid and id < $2::uuid limit ${MOST_MOVED + 1})
        union all (${keptEnds(day.name).replace('e.*', '1')} limit ${MOST_MOVED + 1})
      ) kept
    )`;
  const [row] = await from.query<[boolean]>(link.sql(text), [
    ...rangeOf(day),
    expiry.deadBefore,
    expiry.finishedBefore,
  ]);
  return row![0];
}

/**
 * All that takes time happens while readers go on; writers of so old a day are hardly there. Then the parents are locked,
 * before the day is, as every reader does: the other way round they would wait for each other.
 */
async function dropDay(link: Link, tx: Queryable, day: Day, expiry: Expiry): Promise<number> {
  const { name } = day;
  const parts = TABLES.map((table) => `{schema}.${table}_${name}`).join(', ');
  const run = (text: string, values?: readonly unknown[]) => tx.query<[number]>(link.sql(text), values);
  await run(`lock table ${parts} in share mode`);
  // Asked again, now that no job of the day can end or come back to life.
  if (await isNeeded(link, tx, day, expiry)) return 0;
  const kept = [...rangeOf(day), expiry.deadBefore];
  const ended = await run(`select count(*) from {schema}.job_ends_${name} where not (dead and finished_at >= $1)`, [
    expiry.deadBefore,
  ]);
  for (const [table, column] of [
    ['idempotency_keys', 'job_id'],
    ['unique_keys', 'job_id'],
    ['edges', 'child'],
    ['progress', 'id'],
    // Where a day of journals was dropped before its jobs. One that is left goes in journal-days.ts.
    ['journal_other', 'id'],
  ] as const) {
    await run(
      `delete from {schema}.${table} k where ${column} >= $1::uuid and ${column} < $2::uuid
        and not ${belongsToKept(name, 'k', column)}${table === 'edges' ? ' and k.kind <> 1' : ''}`,
      kept,
    );
  }
  // A join is no job. The edges into it go with the last of those who wait for it, of whatever day these are.
  await run(
    `delete from {schema}.edges i where i.child >= $1::uuid and i.child < $2::uuid and i.kind = 1
      and not exists (select 1 from {schema}.edges o where o.tenant = i.tenant and o.parent = i.child)`,
    rangeOf(day),
  );
  await run('lock table only {schema}.job_bodies, only {schema}.job_ends in access exclusive mode');
  for (const table of TABLES) await run(`alter table {schema}.${table} detach partition {schema}.${table}_${name}`);
  const inDay = 'b.id >= $1::uuid and b.id < $2::uuid';
  await run(
    `insert into {schema}.job_bodies_other select * from {schema}.job_bodies_${name} b
      where ${inDay} and ${belongsToKept(name, 'b', 'id')}`,
    kept,
  );
  await run(`insert into {schema}.job_ends_other ${keptEnds(name)} and e.id >= $1::uuid and e.id < $2::uuid`, kept);
  await run(`drop table ${parts}`);
  return ended[0]![0];
}
