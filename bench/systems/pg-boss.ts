import { type ConstructorOptions, PgBoss, type WorkOptions } from 'pg-boss';
import { openPool } from '../postgres/connection.ts';
import { type BenchQueue, type Payload, QUEUE, type System } from '../queue.ts';

interface Tuning {
  boss: Omit<ConstructorOptions, 'connectionString'>;
  queue: { notify?: boolean };
  worker: WorkOptions;
}

const DEFAULTS: Tuning = { boss: {}, queue: {}, worker: {} };
const TUNED: Tuning = {
  boss: { max: 20 },
  queue: {},
  worker: { batchSize: 5_000, localConcurrency: 2, burstWhenBatchFull: true },
};
/** Wakes workers at once, but PostgreSQL lets transactions that notify commit only one after the other. */
const NOTIFIED: Tuning = { ...TUNED, boss: { ...TUNED.boss, useListenNotify: true }, queue: { notify: true } };

const DUE = `from pgboss.job where name = '${QUEUE}' and state < 'completed' and start_after <= now()`;

async function open(url: string, { boss: options, queue, worker }: Tuning): Promise<BenchQueue> {
  const boss = new PgBoss({ connectionString: url, ...options });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  if ((await boss.getQueue(QUEUE)) === null) await boss.createQueue(QUEUE, queue);
  const pool = openPool(url, 1);
  const count = async (sql: string) => Number((await pool.query<{ n: string }>(sql)).rows[0]!.n);
  return {
    enqueue: (payload) => boss.send(QUEUE, payload),
    enqueueMany: (payloads, at) =>
      boss.insert(
        QUEUE,
        payloads.map((data) => ({ data, ...(at && { startAfter: at }) })),
      ),
    work: async (began) => {
      await boss.work<Payload>(QUEUE, worker, async (jobs) => {
        for (const { data } of jobs) began(data);
      });
      return { stop: () => boss.offWork(QUEUE) };
    },
    busy: async () => (await count(`select count(*) as n ${DUE}`)) > 0,
    counts: async () => ({
      waiting: await count(`select count(*) as n ${DUE}`),
      completed: await count(`select count(*) as n from pgboss.job where name = '${QUEUE}' and state = 'completed'`),
    }),
    close: async () => {
      await boss.stop();
      await pool.end();
    },
  };
}

export const pgBoss: System = {
  settings: 'defaults (one job per fetch, a fetch every 2 s, pool of 10)',
  keepsFinished: true,
  open: ({ store }) => open(store, DEFAULTS),
};

export const pgBossTuned: System = {
  settings: 'batchSize 5000, localConcurrency 2, burstWhenBatchFull, pool of 20',
  keepsFinished: true,
  open: ({ store }) => open(store, TUNED),
};

export const pgBossNotified: System = {
  settings: `${pgBossTuned.settings}, LISTEN/NOTIFY`,
  keepsFinished: true,
  open: ({ store }) => open(store, NOTIFIED),
};
