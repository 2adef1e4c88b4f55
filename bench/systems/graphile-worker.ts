import { Logger, makeWorkerUtils, run, WorkerPreset } from 'graphile-worker';
import { openPool } from '../postgres/connection.ts';
import { type BenchQueue, type Payload, type System, TYPE } from '../queue.ts';

/** Its default logger prints a line per job, which would be measured too. */
const logger = new Logger(() => () => {});

interface Tuning {
  poolSize: number;
  worker: { concurrentJobs?: number; localQueue?: { size: number }; [delay: `${string}BatchDelay`]: number };
}

const TUNED: Tuning = {
  poolSize: 20,
  worker: { concurrentJobs: 24, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
};
/** Its own default for the pool. */
const DEFAULTS: Tuning = { poolSize: 10, worker: {} };

async function open(url: string, { poolSize, worker }: Tuning): Promise<BenchQueue> {
  const pgPool = openPool(url, poolSize);
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  const count = async (sql: string) => Number((await pgPool.query<{ n: string }>(sql)).rows[0]!.n);
  return {
    enqueue: (payload) => utils.addJob(TYPE, payload),
    enqueueMany: (payloads, at) =>
      utils.addJobs(payloads.map((payload) => ({ identifier: TYPE, payload, ...(at && { runAt: at }) }))),
    work: async (began) => {
      const runner = await run({
        pgPool,
        logger,
        noHandleSignals: true,
        parsedCronItems: [],
        taskList: { [TYPE]: async (payload) => began(payload as Payload) },
        preset: { extends: [WorkerPreset], worker },
      });
      return { stop: () => runner.stop() };
    },
    busy: async () =>
      (await count('select count(*) as n from graphile_worker._private_jobs where run_at <= now()')) > 0,
    counts: async () => ({
      waiting: await count('select count(*) as n from graphile_worker._private_jobs where run_at <= now()'),
      completed: 0,
    }),
    close: async () => {
      await utils.release();
      await pgPool.end();
    },
  };
}

export const graphileWorker: System = {
  settings: 'defaults (concurrency 1, pool of 10), logger off',
  keepsFinished: false,
  open: ({ store }) => open(store, DEFAULTS),
};

export const graphileWorkerTuned: System = {
  settings: 'concurrency 24, localQueue 500, batch delays 0, pool of 20, logger off',
  keepsFinished: false,
  open: ({ store }) => open(store, TUNED),
};
