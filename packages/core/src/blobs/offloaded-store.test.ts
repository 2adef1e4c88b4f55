import { memoryStore } from '../store/memory/memory-store.ts';
import { offloaded } from '../testing/offloaded.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testStore } from '../testing/test-store.ts';

testStore(
  'memory with its payloads in a folder',
  offloaded(() => {
    const clock = new TestClock();
    const store = memoryStore({ clock });
    return { store, clock, close: () => store.close() };
  }),
);
