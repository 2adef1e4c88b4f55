// A task says what it does, and another program follows it live.
import { connect, task } from 'waybill';

const build = task('site.build', {
  run: async (_, { output, emit }) => {
    output('compiling\n');
    output('one page has no title\n', { stream: 'stderr' });
    await emit('page.built', { page: 'index' }, { critical: true });
  },
});

const waybill = await connect('sqlite::memory:');
const worker = waybill.work([build]);
const { id } = await waybill.enqueue(build);

const decoder = new TextDecoder();
for await (const { entry } of waybill.jobs.follow(id)) {
  const { sequence, type, stream, output, data } = entry;
  console.log(sequence, stream ?? type, output ? decoder.decode(output).trim() : data.page);
}

await worker.stop();
await waybill.close();
