import { memoryStore } from '../store/memory/memory-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testHealth } from '../testing/test-health.ts';

testHealth('memory', () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  return { store, clock, close: () => store.close() };
});
