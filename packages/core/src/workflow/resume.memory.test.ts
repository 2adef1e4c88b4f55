import { memoryStore } from '../store/memory/memory-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testResume } from '../testing/test-resume.ts';

const factory = () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  return { store, clock, close: () => store.close() };
};

testResume('memory', factory);
