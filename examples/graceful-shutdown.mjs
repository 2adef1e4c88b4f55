// A worker that is asked to end finishes what it runs and hands back what it has not started.
import { connect, task } from 'waybill';

let release;
const opened = new Promise((resolve) => {
  release = resolve;
});
let begun;
const started = new Promise((resolve) => {
  begun = resolve;
});
const slow = task('slow.work', {
  run: async ({ n }) => {
    begun();
    await opened;
    return n;
  },
});

const waybill = await connect('sqlite::memory:');
const jobs = await waybill.enqueueMany(
  slow,
  [1, 2, 3, 4].map((n) => ({ n })),
);
const worker = waybill.work([slow], { concurrency: 1, prefetch: 2 });
await started;

const stopped = worker.stop(); // `stopOn: ['SIGTERM']` does this when the signal comes
release();
await stopped;
const states = await Promise.all(jobs.map(async ({ id }) => (await waybill.jobs.get(id)).state));
console.log(states.join(' '));
await waybill.close();
