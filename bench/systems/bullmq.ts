import { Queue, Worker } from 'bullmq';
import { type BenchQueue, type Payload, QUEUE, type System, TYPE } from '../queue.ts';

const CONCURRENCY = 100;

async function open(redis: string): Promise<BenchQueue> {
  const { hostname: host, port } = new URL(redis);
  const connection = { host, port: Number(port) };
  const queue = new Queue<Payload>(QUEUE, { connection });
  await queue.waitUntilReady();
  const waiting = async () => {
    const counts = await queue.getJobCounts('waiting', 'active', 'prioritized');
    return Object.values(counts).reduce((sum, count) => sum + count, 0);
  };
  return {
    enqueue: (payload) => queue.add(TYPE, payload),
    enqueueMany: (payloads, at) => {
      const opts = at ? { delay: at.getTime() - Date.now() } : {};
      return queue.addBulk(payloads.map((data) => ({ name: TYPE, data, opts })));
    },
    work: async (began) => {
      const worker = new Worker<Payload>(QUEUE, async ({ data }) => began(data), {
        connection,
        concurrency: CONCURRENCY,
      });
      worker.on('error', (error) => console.error(error));
      return { stop: () => worker.close() };
    },
    busy: async () => (await waiting()) > 0,
    counts: async () => ({ waiting: await waiting(), completed: await queue.getCompletedCount() }),
    close: () => queue.close(),
  };
}

export const bullmq: System = {
  settings: `concurrency ${CONCURRENCY}`,
  keepsFinished: true,
  open: ({ redis }) => {
    if (redis === undefined) throw new Error('bullmq needs a Redis.');
    return open(redis);
  },
};
