import { type StoreUnderTest, TestClock, testStore, testStoreAgainstModel } from '@waybill/core/testing';
import { type PostgresStoreOptions, postgresStore } from './store.ts';
import { execute, postgresUrl } from './testing/server.ts';

let made = 0;

async function open(options: PostgresStoreOptions = {}): Promise<StoreUnderTest> {
  const url = await postgresUrl();
  const schema = `contract_${process.pid}_${++made}`;
  const clock = new TestClock();
  const store = await postgresStore({ url, schema, clock, poolSize: 8, ...options });
  const close = async () => {
    await store.close();
    await execute(url, `drop schema "${schema}" cascade`);
  };
  return { store, clock, close };
}

testStore('postgres', () => open());
// The model keeps to the retention exactly.
testStoreAgainstModel('postgres', () => open({ pruneLagMs: 0 }), { runs: 25, timeLimitMs: 40_000 });
