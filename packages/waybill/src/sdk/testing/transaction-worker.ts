import { task } from '@waybill/worker';
import pg from 'pg';
import { connect } from '../connect.ts';

/** A worker that dies at the worst moments: right before the commit of its own transaction, or right after it. */
const [url = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url });

const ship = task('order.ship', {
  run: async ({ order, dies }: { order: number; dies: 'before' | 'after' }, context) => {
    const client = await pool.connect();
    await client.query('begin');
    await client.query('insert into shipments (n) values ($1)', [order]);
    const result = await context.complete({ order }, { within: client });
    if (dies === 'before') process.kill(process.pid, 'SIGKILL');
    await client.query('commit');
    process.kill(process.pid, 'SIGKILL');
    return result;
  },
});

const waybill = await connect(url);
waybill.work([ship], { concurrency: 1, prefetch: 0, leaseMs: 1_000, heartbeatMs: 500 });
