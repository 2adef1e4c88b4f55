import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { round, type Task, type Told } from '../result.ts';
import { withClient } from './connection.ts';
import { timeStatements } from './statements.ts';

const INSUFFICIENT_PRIVILEGE = '42501';
const SESSIONS_END_WITHIN_MS = 10_000;
const OTHER_SESSIONS = `select count(*) as n from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;

/** Filling leaves work behind for the server. It is done before the clock starts, so that no run pays for it by chance. */
export async function quiet({ store }: Task): Promise<() => Promise<Partial<Told>>> {
  await withClient(store, async (client) => {
    await client.query('vacuum analyze');
    await client.query('checkpoint').catch((error: { code?: string }) => {
      // A given server may not let everybody do this.
      if (error.code !== INSUFFICIENT_PRIVILEGE) throw error;
    });
  });
  return async () => ({});
}

/** Quiet, and every statement of the run is timed: a run that takes long then says what for. */
export async function watched(task: Task): Promise<() => Promise<Partial<Told>>> {
  await quiet(task);
  const end = timeStatements();
  return async () => ({ statements: end() });
}

/**
 * An idle transaction with a transaction id: as long as it is open, vacuum and index scans must keep every row version
 * that dies meanwhile. What is left of them at the end is told per job.
 */
export async function pinned(task: Task, jobs: number): Promise<() => Promise<Partial<Told>>> {
  await quiet(task);
  const before = await deadTuples(task.store);
  const idle = new Client({ connectionString: task.store });
  await idle.connect();
  await idle.query('begin');
  await idle.query('select pg_current_xact_id()');
  return async () => {
    const dead = (await deadTuples(task.store, 1)) - before;
    await idle.query('rollback');
    await idle.end();
    return { dead_tuples_per_job: round(dead / jobs) };
  };
}

/** Backends hand in their counts at the latest when they end, so the end of all but the idle one is waited for. */
async function deadTuples(url: string, idle = 0): Promise<number> {
  return withClient(url, async (client) => {
    const one = async (sql: string) => Number((await client.query<{ n: string }>(sql)).rows[0]!.n);
    for (const end = Date.now() + SESSIONS_END_WITHIN_MS; (await one(OTHER_SESSIONS)) > idle; await sleep(10)) {
      if (Date.now() > end) throw new Error('The system left connections open, so its dead tuples cannot be counted.');
    }
    return one('select coalesce(sum(n_dead_tup), 0) as n from pg_stat_user_tables');
  });
}
