import { memoryStore } from '../store/memory/memory-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testGates } from '../testing/test-gates.ts';

const factory = () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  return { store, clock, close: () => store.close() };
};

testGates('memory', factory, { servers: 20 });
