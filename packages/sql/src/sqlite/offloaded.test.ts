import { offloaded, TestClock, testStore } from '@waybill/core/testing';
import { sqliteStore } from './store.ts';

testStore(
  'sqlite with its payloads in a folder',
  offloaded(async () => {
    const clock = new TestClock();
    const store = await sqliteStore({ path: ':memory:', clock });
    return { store, clock, close: () => store.close() };
  }),
);
