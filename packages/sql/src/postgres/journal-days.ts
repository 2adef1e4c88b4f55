import { isLockHeld } from '@waybill/core';
import type { Link, Queryable } from './link/link.ts';
import { type Day, daysOf, firstIdAt, LOCK_WAIT_MS, MOST_MOVED } from './partitions.ts';

/** To look through a day may take a while, and holds up no reader. */
const TIMEOUT_MS = 60_000;

/**
 * Drops the days of journals whose jobs were dropped, and those in which all was stored before a time while no run of their
 * jobs goes on. Answers how many batches went of jobs that stay. A day that is in use right now is left for the next time.
 */
export async function dropJournalDays(link: Link, before: number | undefined): Promise<number> {
  const jobDays = new Set((await daysOf(link)).map(({ name }) => name));
  let dropped = 0;
  for (const day of await daysOf(link, 'journal')) {
    const isOld = before !== undefined && day.to <= before;
    if (jobDays.has(day.name) && !isOld) continue;
    const check = jobDays.has(day.name) ? { isNeeded: isInUse, before: before! } : { isNeeded: hasTooMany, before: 0 };
    try {
      if (await check.isNeeded(link, link, day, check.before)) continue;
      const options = { lockWaitMs: LOCK_WAIT_MS, timeoutMs: TIMEOUT_MS };
      const removed = await link.transaction((tx) => dropDay(link, tx, day, check), options);
      if (jobDays.has(day.name)) dropped += removed;
    } catch (error) {
      if (!isLockHeld(error)) throw error;
    }
  }
  return dropped;
}

type Check = (link: Link, from: Queryable, day: Day, before: number) => Promise<boolean>;

const ask = async (link: Link, from: Queryable, text: string, values: readonly unknown[]): Promise<boolean> => {
  const [row] = await from.query<[boolean]>(link.sql(`select ${text}`), values);
  return row![0];
};

/** Whether something was stored later, or a run goes on, whose newest batch tells how far it has come. */
const isInUse: Check = (link, from, { name, ...day }, before) =>
  ask(
    link,
    from,
    `exists (select 1 from {schema}.jobs_live where id >= $1::uuid and id < $2::uuid and state = 4)
      or exists (select 1 from {schema}.bundles where last_id >= $1::uuid and first_id < $2::uuid)
      or exists (select 1 from {schema}.journal_${name} where stored_at >= $3)`,
    [firstIdAt(day.from), firstIdAt(day.to), before],
  );

/** Batches of jobs that have outlived their day: those move to the default partition, as the jobs did. */
const kept = (name: string) => `from {schema}.journal_${name} j
  where exists (select 1 from {schema}.job_bodies b where b.tenant = j.tenant and b.id = j.id)`;

const hasTooMany: Check = (link, from, { name }) =>
  ask(link, from, `$1 < (select count(*) from (select 1 ${kept(name)} limit ${MOST_MOVED + 1}) k)`, [MOST_MOVED]);

async function dropDay(
  link: Link,
  tx: Queryable,
  day: Day,
  { isNeeded, before }: { isNeeded: Check; before: number },
): Promise<number> {
  const part = `{schema}.journal_${day.name}`;
  const run = (text: string) => tx.query<[number]>(link.sql(text));
  await run(`lock table ${part} in share mode`);
  // Asked again, now that nothing can be appended to the day.
  if (await isNeeded(link, tx, day, before)) return 0;
  const [count] = await run(`select count(*) from ${part}`);
  // The parent before the day, as every reader does: the other way round they would wait for each other.
  await run('lock table only {schema}.journal in access exclusive mode');
  await run(`alter table {schema}.journal detach partition ${part}`);
  if (isNeeded === hasTooMany) await run(`insert into {schema}.journal_other select j.* ${kept(day.name)}`);
  await run(`drop table ${part}`);
  return count![0];
}
