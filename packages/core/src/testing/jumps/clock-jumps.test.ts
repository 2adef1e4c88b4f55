import { memoryStore } from '../../store/memory/memory-store.ts';
import { propertyRuns } from '../property-runs.ts';
import { TestClock } from '../test-clock.ts';
import { testClockJumps } from './test-clock-jumps.ts';

testClockJumps(
  'the model store',
  () => {
    const clock = new TestClock();
    const store = memoryStore({ clock });
    return { store, clock, close: () => store.close() };
  },
  { runs: propertyRuns(100) },
);
