import { memoryStore } from '../store/memory/memory-store.ts';
import { pollTransport } from '../transport/poll/poll-transport.ts';
import { memoryTransport } from './memory-transport.ts';
import { TestClock } from './test-clock.ts';
import { testTransport } from './test-transport.ts';

testTransport('memory hints', () => {
  const clock = new TestClock();
  const [store, transport] = [memoryStore({ clock }), memoryTransport({ clock })];
  const close = async () => {
    await transport.close();
    await store.close();
  };
  return { store, transport, advance: (ms) => clock.advance(ms), close };
});

testTransport('poll', () => {
  const store = memoryStore({ clock: new TestClock() });
  const transport = pollTransport({ store });
  const close = async () => {
    await transport.close();
    await store.close();
  };
  return { store, transport, close };
});
