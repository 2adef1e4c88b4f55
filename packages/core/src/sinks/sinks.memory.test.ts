import { memoryStore } from '../store/memory/memory-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testSinks } from '../testing/test-sinks.ts';

testSinks('memory', () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  return { store, clock, close: () => store.close() };
});
