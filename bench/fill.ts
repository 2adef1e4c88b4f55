// node fill.ts ORDER: puts jobs into a queue as an order in JSON says.
import type { FillOrder } from './filling.ts';
import { type BenchQueue, PER_CALL, payload } from './queue.ts';
import { SYSTEMS } from './systems/index.ts';
import { drained } from './worked.ts';

const A_YEAR_MS = 365 * 86_400_000;

async function enqueue(queue: BenchQueue, jobs: number, at?: Date): Promise<void> {
  for (let left = jobs; left > 0; left -= PER_CALL)
    await queue.enqueueMany(Array(Math.min(PER_CALL, left)).fill(payload()), at);
}

const { task, system, filling } = JSON.parse(process.argv[2]!) as FillOrder;
const { finished = 0, scheduled = 0, ready = 0 } = filling;
const queue = await (await SYSTEMS[system]()).open(task);
// History is made the way it comes about, by jobs that were run, so that it is whatever the system leaves behind.
await enqueue(queue, finished);
if (finished > 0) await drained(queue, finished);
await enqueue(queue, scheduled, new Date(Date.now() + A_YEAR_MS));
await enqueue(queue, ready);
await queue.close();
