import { propertyRuns, TestClock, testRandomFlows } from '@waybill/core/testing';
import { sqliteStore } from './store.ts';

const factory = async () => {
  const clock = new TestClock();
  const store = await sqliteStore({ path: ':memory:', clock });
  return { store, clock, close: () => store.close() };
};

testRandomFlows('sqlite', factory, { runs: propertyRuns(20), size: 40 });
testRandomFlows('sqlite, large', factory, { runs: 1, size: 1_000, least: 1_000 });
