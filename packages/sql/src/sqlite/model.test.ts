import { propertyRuns, TestClock, testStoreAgainstModel } from '@waybill/core/testing';
import { sqliteStore } from './store.ts';

testStoreAgainstModel(
  'sqlite',
  async () => {
    const clock = new TestClock();
    const store = await sqliteStore({ path: ':memory:', clock });
    return { store, clock, close: () => store.close() };
  },
  { runs: propertyRuns(50) },
);
