// One job per customer at a time, and never more than two calls of the same interface at once.
import { connect, task } from 'waybill';

let running = 0;
let most = 0;
const sync = task('customer.sync', {
  unique: { keys: ['type', 'args'], on_conflict: 'ignore' },
  limit: { key: 'crm', concurrency: 2 },
  run: async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
  },
});

const waybill = await connect('sqlite::memory:');
const first = await waybill.enqueue(sync, { customer: 1 });
const again = await waybill.enqueue(sync, { customer: 1 });
console.log('the same job:', first.id === again.id, 'created:', again.created);

const others = await waybill.enqueueMany(
  sync,
  [2, 3, 4, 5, 6].map((customer) => ({ customer })),
);
const worker = waybill.work([sync], { concurrency: 10 });
await Promise.all([first, ...others].map((job) => waybill.wait(job)));
console.log('at once, at most:', most);

await worker.stop();
await waybill.close();
