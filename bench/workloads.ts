import { engine, type Lease, type Waybill } from '@waybill/core';
import { openStore } from 'waybill';

export interface Result {
  workload: string;
  system: 'waybill';
  jobs: number;
  seconds: number;
  /** Cost per job in the first and in the last tenth: equal where the cost does not grow with what lies around. */
  first_us: number;
  last_us: number;
  rss_mb: number;
  settings: string;
}

const SLICE = 500;

/** Works a queue off and notes when each slice was done. */
async function drain(waybill: Waybill, queue: string, total: number): Promise<number[]> {
  const marks = [performance.now()];
  let done = 0;
  while (done < total) {
    const leases = await waybill.jobs.claim({ queues: [queue], count: SLICE, waitMs: 10_000 });
    await Promise.all(leases.map((lease) => complete(waybill, lease)));
    done += leases.length;
    for (let job = 0; job < leases.length; job += 1) marks.push(performance.now());
  }
  return marks;
}

async function complete(waybill: Waybill, { job, token }: Lease): Promise<void> {
  await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: null } });
}

function resultOf(workload: string, marks: readonly number[], settings: string): Result {
  const jobs = marks.length - 1;
  const tenth = Math.max(1, Math.floor(jobs / 10));
  const us = (from: number, to: number) => Math.round(((marks[to]! - marks[from]!) * 1_000) / (to - from));
  return {
    workload,
    system: 'waybill',
    jobs,
    seconds: Math.round(marks.at(-1)! - marks[0]!) / 1_000,
    first_us: us(0, tenth),
    last_us: us(jobs - tenth, jobs),
    rss_mb: Math.round(process.memoryUsage().rss / 2 ** 20),
    settings,
  };
}

async function on(file: string, run: (waybill: Waybill) => Promise<Result>): Promise<Result> {
  const waybill = engine({ store: await openStore(`sqlite:${file}`) });
  try {
    return await run(waybill);
  } finally {
    await waybill.close();
  }
}

async function enqueue(waybill: Waybill, count: number, options: Record<string, unknown>): Promise<void> {
  for (let made = 0; made < count; made += SLICE) {
    await waybill.jobs.enqueueMany(Array(Math.min(SLICE, count - made)).fill({ type: 'bench.job', args: [], options }));
  }
}

export const WORKLOADS: Record<string, (file: string) => Promise<Result>> = {
  /** 20,000 plain jobs beside 100,000 that are parked behind one full key. */
  'parked-beside': (file) =>
    on(file, async (waybill) => {
      await enqueue(waybill, 100_000, { queue: 'work', rate_limit: { key: 'full', concurrency: 1 } });
      await waybill.jobs.claim({ queues: ['work'], leaseMs: 3_600_000 });
      await enqueue(waybill, 20_000, { queue: 'work' });
      return resultOf('parked-beside', await drain(waybill, 'work', 20_000), '100,000 parked behind one full key');
    }),

  /** The parked ones themselves, admitted a few hundred at a time as those before them settle. */
  parked: (file) =>
    on(file, async (waybill) => {
      await enqueue(waybill, 100_000, { queue: 'work', rate_limit: { key: 'narrow', concurrency: SLICE } });
      return resultOf('parked', await drain(waybill, 'work', 100_000), `concurrency ${SLICE}`);
    }),

  /** One job fans out to 9,998, which come together in one. */
  workflow: (file) =>
    on(file, async (waybill) => {
      const job = { type: 'bench.job', args: [], options: { queue: 'work' } };
      const middle = Array.from({ length: 9_000 }, (_, n) => ({ id: `m${n}`, depends_on: ['first'], ...job }));
      const gather = Array.from({ length: 998 }, (_, n) => ({
        id: `g${n}`,
        depends_on: [`m${n}`, `m${n + 998}`, `m${n + 1996}`],
        ...job,
      }));
      const nodes = [
        { id: 'first', ...job },
        ...middle,
        ...gather,
        { id: 'last', depends_on: gather.map(({ id }) => id), ...job },
      ];
      await waybill.workflows.create({ nodes });
      return resultOf(
        'workflow',
        await drain(waybill, 'work', nodes.length),
        '10,000 nodes: fan out, fan in by three, fan in',
      );
    }),

  /** A thousand steps, each after the one before. */
  chain: (file) =>
    on(file, async (waybill) => {
      const steps = Array(1_000).fill({ type: 'bench.job', args: [], options: { queue: 'work' } });
      await waybill.workflows.create({ type: 'chain', steps });
      return resultOf('chain', await drain(waybill, 'work', steps.length), 'one step at a time');
    }),
};
