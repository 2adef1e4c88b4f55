import type { StoreFactory } from '../../testing/store/bench.ts';
import { TestClock } from '../../testing/test-clock.ts';
import { testJournalStore, testStore } from '../../testing/test-store.ts';
import { testStoreAgainstModel } from '../../testing/test-store-against-model.ts';
import { memoryStore } from './memory-store.ts';

const factory: StoreFactory = () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  return { store, clock, close: () => store.close() };
};

testStore('memory', factory);

testJournalStore('memory', factory);
// Against itself the model proves little about stores, but the invariants of every history hold for it too.
testStoreAgainstModel('memory', factory);
