// An application as a user writes it: `bundle.test.ts` makes one file of it and of everything that it imports.
import { connect, task } from 'waybill';

const greet = task('greet.person', { queue: 'greetings', run: async ({ name }) => `hello ${name}` });

let threads = 0;
process.on('worker', () => {
  threads += 1;
});

async function answerOf(waybill) {
  const [, , order, id] = process.argv;
  if (order === '--show') return waybill.jobs.get(id);
  const job = await waybill.enqueue(greet, { name: 'ada' });
  if (order === '--enqueue-only') return { id: job.id };
  const worker = waybill.work([greet]);
  const result = await waybill.wait(job);
  await worker.stop();
  return { result, threads };
}

async function main() {
  const { WAYBILL_STORE, WAYBILL_TRANSPORT: transport } = process.env;
  const waybill = await connect(WAYBILL_STORE, { ...(transport && { transport }) });
  console.log(JSON.stringify(await answerOf(waybill)));
  await waybill.close();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
