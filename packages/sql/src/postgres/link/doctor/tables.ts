import { dayAt, daysOf, firstIdAt } from '../../partitions.ts';
import type { Check, Patient } from './check.ts';

const MIB = 1024 * 1024;

export async function checkBloat({ link, limits }: Patient): Promise<Check> {
  const name = 'bloat';
  const rows = await link.query<[string, number, number]>(
    `select relname, n_dead_tup, pg_total_relation_size(relid) from pg_stat_user_tables
     where schemaname = $1 order by n_dead_tup desc`,
    [link.schema],
  );
  const bytes = rows.reduce((sum, [, , size]) => sum + size, 0);
  const dead = rows.reduce((sum, [, count]) => sum + count, 0);
  const message = `${dead} dead rows, ${Math.ceil(bytes / MIB)} MiB in all`;
  const worst = rows[0];
  if (worst === undefined || worst[1] < limits.deadRows) return { name, status: 'ok', message };
  const hint = 'Vacuum does not keep up: look for long transactions below, then at the settings of autovacuum.';
  return { name, status: 'warn', message: `${message}, most of them in ${worst[0]}`, hint };
}

const MOST_COUNTED = 100_000;

/** Jobs are dropped by the day, so each day needs its partition before its first job comes. */
export async function checkDays({ link }: Patient): Promise<Check> {
  const name = 'days';
  const today = dayAt(link.clock.now());
  const days = await daysOf(link);
  const [row] = await link.query<[outside: number, ahead: number]>(
    link.sql(`select count(*), count(*) filter (where id >= $1::uuid) from (
      select id from {schema}.job_bodies_other limit ${MOST_COUNTED}) outside`),
    [firstIdAt(today.from)],
  );
  const [outside, ahead] = row!;
  const message = `${days.length} have partitions, ${outside} jobs are outside of them`;
  if (days.length > 0 && !days.some((day) => day.name === today.name)) {
    const hint = 'The log of a running Waybill says why no day is added; its user must own the tables.';
    return { name, status: 'warn', message: `${message}, and today has none`, hint };
  }
  if (ahead === 0) return { name, status: 'ok', message };
  const hint = 'A producer makes ids ahead of their time. They move into their day when it comes, up to 5,000 a day.';
  return { name, status: 'warn', message: `${message}, ${ahead} of them of today or later`, hint };
}

/** Whatever holds back the oldest row that anybody may still see. */
const PINS = `
  select what, ms from (
    select 'a transaction of ' || coalesce(usename, '?') || ' (' || coalesce(nullif(application_name, ''), 'unnamed')
        || ', pid ' || pid || ', ' || coalesce(state, '?') || ')' as what,
      extract(epoch from clock_timestamp() - xact_start)::float8 * 1000 as ms
    from pg_stat_activity where backend_xmin is not null or backend_xid is not null
    union all
    select 'the prepared transaction ' || gid, extract(epoch from clock_timestamp() - prepared)::float8 * 1000
    from pg_prepared_xacts
  ) pins
  where ms > $1 order by ms desc limit 1`;

export async function checkTransactions({ link, limits }: Patient): Promise<Check> {
  const name = 'transactions';
  const [pin] = await link.query<[string, number]>(PINS, [limits.transactionMs]);
  if (pin) {
    const [what, ms] = pin;
    const hint =
      'Until it ends, dead rows cannot be removed and claims slow down. End it: select pg_terminate_backend(pid).';
    return { name, status: 'warn', message: `${what} is open for ${Math.round(ms / 1000)} s`, hint };
  }
  const [slot] = await link.query<[string]>(
    'select slot_name from pg_replication_slots where not active and (xmin is not null or catalog_xmin is not null) limit 1',
  );
  if (!slot) return { name, status: 'ok', message: 'none is open for long' };
  const hint = 'Drop it if nobody will read it again: select pg_drop_replication_slot(name).';
  return { name, status: 'warn', message: `the replication slot ${slot[0]} is not read and holds back vacuum`, hint };
}
