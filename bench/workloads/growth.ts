import type { Lease, Waybill } from '@waybill/core';
import { withEngine } from '../embedded.ts';
import { elapsed, type Workload } from '../result.ts';

/** Whether the cost of a job grows with what lies around it: the first tenth is compared with the last. */

const SLICE = 500;

async function drain(waybill: Waybill, total: number): Promise<number[]> {
  const marks = [performance.now()];
  while (marks.length <= total) {
    const leases = await waybill.jobs.claim({ queues: ['bench'], count: SLICE, waitMs: 10_000 });
    await Promise.all(leases.map((lease) => complete(waybill, lease)));
    for (let job = 0; job < leases.length; job += 1) marks.push(performance.now());
  }
  return marks;
}

async function complete(waybill: Waybill, { job, token }: Lease): Promise<void> {
  await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: null } });
}

function toldOf(marks: readonly number[], settings: string) {
  const jobs = marks.length - 1;
  const tenth = Math.max(1, Math.floor(jobs / 10));
  const us = (from: number, to: number) => Math.round(((marks[to]! - marks[from]!) * 1_000) / (to - from));
  const growth = `first tenth ${us(0, tenth)} us/job, last tenth ${us(jobs - tenth, jobs)} us/job`;
  return { jobs, seconds: elapsed(marks[0]!), settings: `${settings}; ${growth}` };
}

async function enqueue(waybill: Waybill, count: number, options: Record<string, unknown>): Promise<void> {
  const job = { type: 'bench.job', args: [], options: { queue: 'bench', ...options } };
  for (let made = 0; made < count; made += SLICE)
    await waybill.jobs.enqueueMany(Array(Math.min(SLICE, count - made)).fill(job));
}

/** Plain jobs beside 100,000 that are parked behind one full key. */
export const parkedBeside: Workload = {
  systems: {
    waybill: ({ store, scale }) =>
      withEngine(store, async (waybill) => {
        const parked = Math.round(100_000 * scale);
        await enqueue(waybill, parked, { rate_limit: { key: 'full', concurrency: 1 } });
        await waybill.jobs.claim({ queues: ['bench'], leaseMs: 3_600_000 });
        await enqueue(waybill, 20_000, {});
        return toldOf(await drain(waybill, 20_000), `${parked} parked behind one full key`);
      }),
  },
};

/** The parked ones themselves, admitted as those before them settle. */
export const parked: Workload = {
  systems: {
    waybill: ({ store, scale }) =>
      withEngine(store, async (waybill) => {
        const jobs = Math.round(100_000 * scale);
        await enqueue(waybill, jobs, { rate_limit: { key: 'narrow', concurrency: SLICE } });
        return toldOf(await drain(waybill, jobs), `concurrency ${SLICE}`);
      }),
  },
};

/** One job fans out to 9,000, which come together by threes, and then in one. */
export const workflow: Workload = {
  systems: {
    waybill: ({ store }) =>
      withEngine(store, async (waybill) => {
        const job = { type: 'bench.job', args: [], options: { queue: 'bench' } };
        const middle = Array.from({ length: 9_000 }, (_, n) => ({ id: `m${n}`, depends_on: ['first'], ...job }));
        const gather = Array.from({ length: 998 }, (_, n) => ({
          id: `g${n}`,
          depends_on: [`m${n}`, `m${n + 998}`, `m${n + 1_996}`],
          ...job,
        }));
        const nodes = [
          { id: 'first', ...job },
          ...middle,
          ...gather,
          { id: 'last', depends_on: gather.map(({ id }) => id), ...job },
        ];
        await waybill.workflows.create({ nodes });
        return toldOf(await drain(waybill, nodes.length), '10,000 nodes');
      }),
  },
};

export const chain: Workload = {
  systems: {
    waybill: ({ store }) =>
      withEngine(store, async (waybill) => {
        const steps = Array(1_000).fill({ type: 'bench.job', args: [], options: { queue: 'bench' } });
        await waybill.workflows.create({ type: 'chain', steps });
        return toldOf(await drain(waybill, steps.length), 'one step at a time');
      }),
  },
};
