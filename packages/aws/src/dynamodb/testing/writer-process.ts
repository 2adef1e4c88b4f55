// A process that enqueues jobs of the given ids one after the other and repeats what failed, until all are in.
import { engine, WaybillError } from '@waybill/core';
import { dynamoStore } from '../store.ts';

const [endpoint, table, ...ids] = process.argv.slice(2) as [string, string, ...string[]];
const store = await dynamoStore({ table, endpoint, region: 'us-east-1', createTable: false });
const waybill = engine({ store, maintenance: false });
for (const id of ids) {
  for (let isIn = false; !isIn; ) {
    isIn = await waybill.jobs.enqueue({ id, type: 'test.job', args: [] }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof WaybillError && error.code === 'duplicate') return true;
        if (error instanceof WaybillError && error.retryable) return false;
        throw error;
      },
    );
  }
}
await waybill.close();
