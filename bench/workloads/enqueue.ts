import { newJobId } from '@waybill/core';
import { ARGS, inFlight, JOB, withEngine } from '../ours.ts';
import { BATCH, RawTable } from '../raw.ts';
import { elapsed, type Task, type Workload } from '../result.ts';

const IN_FLIGHT = 64;
const PER_CALL = 1_000;

/** Straight inserts in batches; what both enqueue workloads are measured by. */
async function raw({ folder, scale }: Task) {
  const jobs = Math.round(100_000 * scale);
  const table = new RawTable(folder);
  const spec = JSON.stringify({ args: ARGS, meta: {} });
  const begun = performance.now();
  for (let made = 0; made < jobs; made += BATCH) {
    table.insertBatch(
      Array.from({ length: BATCH }, () => newJobId(Date.now())),
      spec,
    );
  }
  return { jobs, seconds: elapsed(begun), settings: `${BATCH} rows per transaction, main thread` };
}

export const enqueueOne: Workload = {
  systems: {
    waybill: ({ folder, scale }) =>
      withEngine(folder, async (waybill) => {
        const jobs = Math.round(100_000 * scale);
        let left = jobs;
        const begun = performance.now();
        await inFlight(IN_FLIGHT, async () => {
          if (left-- <= 0) return false;
          await waybill.jobs.enqueue(JOB);
          return true;
        });
        return { jobs, seconds: elapsed(begun), settings: `${IN_FLIGHT} in flight` };
      }),
    raw,
  },
};

export const enqueueBulk: Workload = {
  systems: {
    waybill: ({ folder, scale }) =>
      withEngine(folder, async (waybill) => {
        const jobs = Math.round(100_000 * scale);
        const batch = Array(PER_CALL).fill(JOB);
        const begun = performance.now();
        for (let made = 0; made < jobs; made += PER_CALL) await waybill.jobs.enqueueMany(batch);
        return { jobs, seconds: elapsed(begun), settings: `${PER_CALL} per call, one call at a time` };
      }),
    raw,
  },
};
