// Two jobs side by side, and one that gets both results.
import { connect, task } from 'waybill';

const count = task('text.count', { run: async ({ text }) => text.split(' ').length });
const sum = task('text.sum', { run: async (_, { parentResults }) => parentResults.reduce((a, b) => a + b, 0) });

const waybill = await connect('sqlite::memory:');
const worker = waybill.work([count, sum]);

const { id } = await waybill.workflows.create({
  nodes: [
    { id: 'left', type: 'text.count', args: [{ text: 'the row is the truth' }] },
    { id: 'right', type: 'text.count', args: [{ text: 'the queue is only a hint' }] },
    { id: 'total', type: 'text.sum', args: [null], depends_on: ['left', 'right'] },
  ],
});
const { items } = await waybill.workflows.nodes(id, { limit: 10 });
console.log('words', await waybill.wait(items.find(({ node }) => node === 'total').id));

await worker.stop();
await waybill.close();
