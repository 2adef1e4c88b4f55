import { newJobId } from '@waybill/core';
import { openPool } from '../postgres/connection.ts';
import { type BenchQueue, type Payload, QUEUE, type System, TYPE } from '../queue.ts';

const BATCH = 500;

/** One plain row per job, a primary key, and an index of what can be claimed: the least that a queue with history needs. */
const SCHEMA = `
  create table if not exists jobs (
    id uuid primary key, type text not null, queue text not null, state text not null, rank bigint,
    run int not null, token uuid, next_at timestamptz, created_at timestamptz not null, finished_at timestamptz, args text not null
  );
  create index if not exists jobs_ready on jobs (queue, rank) where rank is not null`;

const INSERT = {
  name: 'insert',
  text: `insert into jobs select id, $2, $3, 'available', extract(epoch from clock_timestamp()) * 1e6, 0, null, null, now(), null, args
         from unnest($1::uuid[], $4::text[]) as t (id, args)`,
};
const CLAIM = {
  name: 'claim',
  text: `update jobs set state = 'active', rank = null, run = run + 1, token = $1, next_at = now() + interval '30 s'
         where ctid = any (array(select ctid from jobs where queue = $2 and rank is not null order by rank limit $3
                                 for update skip locked))
         returning id, args`,
};
const COMPLETE = {
  name: 'complete',
  text: `update jobs set state = 'completed', next_at = null, finished_at = now() where id = any ($1) and token = $2`,
};

/**
 * What PostgreSQL does when it is asked for nothing but the writes: statements of 500 rows, one after the other on one
 * connection, no rule, no event, no answer per job. It reads nothing but the row, so a queue with two connections may beat it.
 */
async function open(url: string): Promise<BenchQueue> {
  const pool = openPool(url, 2);
  await pool.query(SCHEMA);
  const count = async (where: string) =>
    Number((await pool.query<{ n: string }>(`select count(*) as n from jobs where ${where}`)).rows[0]!.n);

  const insert = (payloads: readonly Payload[]) => {
    const ids = payloads.map(() => newJobId(Date.now()));
    return pool.query(INSERT, [ids, TYPE, QUEUE, payloads.map((one) => JSON.stringify(one))]);
  };

  async function drain(began: (payload: Payload) => void): Promise<void> {
    for (;;) {
      const token = newJobId(Date.now());
      const { rows } = await pool.query<{ id: string; args: string }>(CLAIM, [token, QUEUE, BATCH]);
      if (rows.length === 0) return;
      for (const { args } of rows) began(JSON.parse(args));
      await pool.query(COMPLETE, [rows.map(({ id }) => id), token]);
    }
  }

  return {
    enqueue: (payload) => insert([payload]),
    enqueueMany: insert,
    work: async (began) => {
      const drained = drain(began);
      return { stop: () => drained };
    },
    busy: async () => (await count(`state in ('available', 'active')`)) > 0,
    counts: async () => ({
      waiting: await count(`state in ('available', 'active')`),
      completed: await count(`state = 'completed'`),
    }),
    close: () => pool.end(),
  };
}

export const rawPostgres: System = {
  settings: `one plain table, ${BATCH} rows per claim and per complete, one connection`,
  keepsFinished: true,
  open: ({ store }) => open(store),
};
