// A server of its own on a table, with upkeep, whose machine has a clock that is off by the given time. It enqueues a job
// that is due after a moment, and each line that comes on its standard input sets its clock anew.
import { createInterface } from 'node:readline';
import { engine } from '@waybill/core';
import { dynamoStore } from '../store.ts';

const [endpoint, table, queue, skew] = process.argv.slice(2) as [string, string, string, string];
const trueNow = Date.now;
const setClock = (offMs: number): void => {
  Date.now = () => trueNow() + offMs;
};
const tell = (message: unknown): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

setClock(Number(skew));
const store = await dynamoStore({ table, endpoint, region: 'us-east-1', createTable: false });
// One round of upkeep ends with the next look at what is due.
let looks = 0;
const due = store.due.bind(store);
store.due = async (query) => {
  const answer = await due(query);
  looks += 1;
  tell({ looks, offMs: query.now - trueNow() });
  return answer;
};
const waybill = engine({ store });
const request = {
  type: 'test.job',
  args: [],
  options: { queue, scheduled_at: new Date(store.clock.now() + 300).toISOString() },
};
const { job } = await waybill.jobs.enqueue(request);
tell({ jobId: job.id });
for await (const line of createInterface({ input: process.stdin })) {
  setClock(Number(line));
  tell({ set: Number(line), looks });
}
await waybill.close();
