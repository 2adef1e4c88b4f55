// An application whose task runs in a process of its own, by the handler of a module beside it.
import { connect, task } from 'waybill';

async function main() {
  const greet = task('greet.person', { isolate: { module: process.env.HANDLER } });
  const waybill = await connect('sqlite::memory:');
  const job = await waybill.enqueue(greet, { name: 'ada' });
  const worker = waybill.work([greet]);
  const { greeting, pid } = await waybill.wait(job);
  await worker.stop();
  await waybill.close();
  console.log(JSON.stringify({ greeting, isOwnProcess: pid !== process.pid }));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
