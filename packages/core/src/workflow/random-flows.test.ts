import { memoryStore } from '../store/memory/memory-store.ts';
import { testRandomFlows } from '../testing/flows/test-random-flows.ts';
import { propertyRuns } from '../testing/property-runs.ts';
import { TestClock } from '../testing/test-clock.ts';

const factory = () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  return { store, clock, close: () => store.close() };
};

testRandomFlows('memory, with faults', factory, { runs: propertyRuns(300), size: 14, faults: 6 });
testRandomFlows('memory, twenty servers', factory, { runs: propertyRuns(50), size: 14, servers: 20, faults: 6 });
testRandomFlows('memory, large', factory, { runs: 1, size: 1_000, least: 1_000 });
