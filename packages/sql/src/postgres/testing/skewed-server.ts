// A server of its own on a schema, with upkeep, whose machine has a clock that is off by the given time. It enqueues jobs,
// of which every other one waits for a moment, and runs whatever comes until its standard input ends. It tells each run.
import { engine } from '@waybill/core';
import { postgresStore } from '../store.ts';

const [url, schema, skew, count] = process.argv.slice(2) as [string, string, string, string];
const trueNow = Date.now;
Date.now = () => trueNow() + Number(skew);
const tell = (message: unknown): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

const store = await postgresStore({ url, schema });
const waybill = engine({ store });
const ended = new AbortController();
process.stdin.once('end', () => ended.abort()).resume();
const jobs = await waybill.jobs.enqueueMany(
  Array.from({ length: Number(count) }, (_, n) => ({
    type: 'test.job',
    args: [],
    options: n % 2 === 0 ? {} : { scheduled_at: new Date(store.clock.now() + 500).toISOString() },
  })),
);
tell({ enqueued: jobs.map(({ id }) => id), offMs: store.clock.now() - trueNow() });
while (!ended.signal.aborted) {
  const { signal } = ended;
  const leases = await waybill.jobs.claim({ queues: ['default'], count: 5, leaseMs: 10_000, waitMs: 1_000, signal });
  for (const { job, token: leaseToken } of leases) {
    tell({ ran: job.id });
    await waybill.jobs.settle({ id: job.id, leaseToken, outcome: { kind: 'completed', result: null } });
  }
}
await waybill.close();
