import { Client } from 'pg';
import { round, type Task, type Told } from '../result.ts';
import { withClient } from './connection.ts';

const INSUFFICIENT_PRIVILEGE = '42501';

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
    const dead = (await deadTuples(task.store)) - before;
    await idle.query('rollback');
    await idle.end();
    return { dead_tuples_per_job: round(dead / jobs) };
  };
}

/** Backends hand in their counts at the latest when they end, which they have when the system's connections are closed. */
async function deadTuples(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ dead: string }>(
      'select coalesce(sum(n_dead_tup), 0) as dead from pg_stat_user_tables',
    );
    return Number(rows[0]!.dead);
  });
}
