import { task } from '@waybill/worker';
import { connect } from '../connect.ts';

/** A worker in a process of its own, to be told to stop or killed. Tells its parent what it does. */
const [url = '', settings = '{}'] = process.argv.slice(2);
const { runMs = 0, ...options } = JSON.parse(settings) as { runMs?: number };

const load = task('load.one', {
  run: async ({ n }: { n: number }) => {
    process.send?.({ started: n });
    await new Promise((resolve) => setTimeout(resolve, runMs));
    process.send?.({ ended: n });
    return n;
  },
});

const waybill = await connect(url);
waybill.work([load], { ...options, stopOn: ['SIGTERM'] });
