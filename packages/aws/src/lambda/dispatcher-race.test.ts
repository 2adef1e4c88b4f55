import { memoryStore, TestClock } from '@waybill/core/testing';
import { testDispatcherRace } from './testing/test-dispatcher-race.ts';

testDispatcherRace('memory', () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  return { store, clock, close: () => store.close() };
});
