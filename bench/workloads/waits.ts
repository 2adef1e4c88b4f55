import { type Connection, connect, task as taskOf } from 'waybill';
import { BenchServer } from '../http/server.ts';
import { elapsed, type Run, scaled, type Workload } from '../result.ts';

const MANY = 1_000;
const WARM_UP = 50;
const JOBS = 200;

const addOne = taskOf('bench.add', { run: (n: number) => n + 1 });

/** Jobs one after another, each waited for, while others wait for jobs that do not end meanwhile. */
async function oneByOne(connection: Connection, others: number, scale: number) {
  const enough = new AbortController();
  const held = await connection.enqueueMany(addOne, Array(others).fill(0), { delay: 3_600_000 });
  const waiting = held.map((job) => connection.wait(job, { signal: enough.signal }).catch(() => {}));
  connection.work([addOne]);
  const step = async (n: number) => connection.wait(await connection.enqueue(addOne, n));
  for (let n = 0; n < WARM_UP; n += 1) await step(n);
  const jobs = scaled(JOBS, scale);
  const begun = performance.now();
  for (let n = 0; n < jobs; n += 1) await step(n);
  const seconds = elapsed(begun);
  enough.abort();
  await Promise.all(waiting);
  return { jobs, seconds, settings: `one job at a time, beside ${others} who wait` };
}

const embedded =
  (others: number): Run =>
  async ({ store, scale }) => {
    const connection = await connect(store);
    try {
      return await oneByOne(connection, others, scale);
    } finally {
      await connection.close();
    }
  };

const remote =
  (others: number): Run =>
  async ({ store, scale }) => {
    const server = await BenchServer.waybill(store);
    const connection = await connect(server.url);
    try {
      return await oneByOne(connection, others, scale);
    } finally {
      await connection.close();
      await server.stop();
    }
  };

const beside = (run: (others: number) => Run): Workload => ({
  systems: { 'beside-1000': run(MANY), 'beside-one': run(1) },
  yardstick: 'beside-one',
});

export const waits = beside(embedded);
export const httpWaits = beside(remote);
