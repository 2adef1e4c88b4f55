import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IsolateOptions } from '@waybill/worker';
import { connect, task } from 'waybill';
import { scriptAt } from '../paths.ts';
import { elapsed, type Run, scaled, type Told, type Workload } from '../result.ts';

const JOBS = 150;
const CONCURRENCY = 3;
const WARM = 15;
const HANDLER = scriptAt('workloads/isolated-handler');

/** Jobs that do nothing, each in a process of its own, from the start of the worker to the last result. */
const worked =
  (isolate: IsolateOptions): Run =>
  async ({ store, scale }): Promise<Told> => {
    const jobs = scaled(JOBS, scale);
    const one = task<number>('bench.isolated', { queue: 'bench', isolate });
    const waybill = await connect(store);
    try {
      const added = await waybill.enqueueMany(one, numbers(jobs));
      const begun = performance.now();
      waybill.work([one], { isolated: { concurrency: CONCURRENCY } });
      await Promise.all(added.map((job) => waybill.wait(job)));
      return { jobs, seconds: elapsed(begun), settings: `${CONCURRENCY} at a time` };
    } finally {
      await waybill.close();
    }
  };

/** As many jobs as processes that wait for them: how fast a run begins that needs no start. */
const warm: Run = async ({ store, folder }): Promise<Told> => {
  const isolate = { module: HANDLER, warm: WARM, env: { BENCH_READY: folder } };
  const one = task<number>('bench.isolated', { queue: 'bench', isolate });
  const waybill = await connect(store);
  try {
    waybill.work([one], { isolated: { concurrency: CONCURRENCY } });
    const isReady = () => readdirSync(folder).filter((name) => /^\d+$/.test(name)).length >= WARM;
    while (!isReady()) await sleep(20);
    const begun = performance.now();
    const added = await waybill.enqueueMany(one, numbers(WARM));
    await Promise.all(added.map((job) => waybill.wait(job)));
    return { jobs: WARM, seconds: elapsed(begun), settings: `${CONCURRENCY} at a time, ${WARM} processes ready` };
  } finally {
    await waybill.close();
  }
};

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** What Node itself takes: a process and a message, without limits, environment, watchdog, folder or row. */
const bareFork: Run = async ({ scale }) => {
  const jobs = scaled(JOBS, scale);
  let left = jobs;
  const begun = performance.now();
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const child = fork(HANDLER, [String(left)], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
      await Promise.all([once(child, 'message'), once(child, 'exit')]);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  return { jobs, seconds: elapsed(begun), settings: `${CONCURRENCY} at a time` };
};

export const isolated: Workload = {
  systems: {
    'cold-module': worked({ module: HANDLER }),
    'warm-module': warm,
    command: worked({ command: ['/bin/sh', '-c', 'cat'] }),
    'bare-fork': bareFork,
  },
  yardstick: 'bare-fork',
};
