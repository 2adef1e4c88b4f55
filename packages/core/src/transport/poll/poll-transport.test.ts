import { expect, onTestFinished, test } from 'vitest';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Store } from '../../store/store.ts';
import { someJobs } from '../../testing/factories.ts';
import { TestClock } from '../../testing/test-clock.ts';
import type { Received } from '../transport.ts';
import { pollTransport } from './poll-transport.ts';

/** A store that counts how often it is asked for jobs. */
function bench(ordering: Store['capabilities']['ordering'] = 'strict') {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  let [claims, looks] = [0, 0];
  const counting: Store = Object.create(store, {
    capabilities: { value: { ...store.capabilities, ordering } },
    claim: {
      value: (requests: Parameters<Store['claim']>[0]) => {
        looks += 1;
        return store.claim(requests);
      },
    },
  });
  const transport = pollTransport({ store: counting });
  onTestFinished(async () => {
    await transport.close();
    await store.close();
  });
  const receive = (max: number, waitMs: number): Promise<Received> => {
    claims += 1;
    const claim = { claimId: `claim-${claims}`, workerId: 'worker-1', leaseMs: 30_000 };
    return transport.receive({ tenant: '', queues: ['default'], max, waitMs, claim });
  };
  const add = (count: number) =>
    store.insert(someJobs(count, { createdAt: clock.now() }).map((job) => ({ jobs: [job] })));
  return { clock, receive, add, looks: () => looks };
}

const sizeOf = (received: Received): number => (received.kind === 'claimed' ? received.jobs.length : 0);

test('after a claim that got all there was, the next one waits for a wake-up before it looks', async () => {
  const { receive, add, looks } = bench();
  await add(2);
  expect(sizeOf(await receive(5, 10_000))).toBe(2);
  const next = receive(5, 10_000);
  await add(1);
  expect(sizeOf(await next)).toBe(1);
  expect(looks()).toBe(2);
});

test('what came after the look and before the next claim is not slept through', async () => {
  const { receive, add } = bench();
  await add(1);
  await receive(5, 10_000);
  await add(1);
  // Nobody moves the clock, so that only the wake-up can end this.
  expect(sizeOf(await receive(5, 10_000))).toBe(1);
});

test('a job that nobody told of is found by the safety net', async () => {
  const { clock, receive, add, looks } = bench();
  await add(1);
  await receive(5, 10_000);
  const next = receive(5, 10_000);
  await clock.whenSleeping();
  await clock.advance(999);
  expect(looks()).toBe(1);
  await clock.advance(1);
  await expect.poll(looks).toBe(2);
  await add(1);
  expect(sizeOf(await next)).toBe(1);
});

test('a claim that got as much as it asked for, or one that may not wait, is followed by a look', async () => {
  const { receive, add, looks } = bench();
  await add(5);
  await receive(2, 10_000);
  expect(sizeOf(await receive(5, 10_000))).toBe(3);
  expect(sizeOf(await receive(5, 0))).toBe(0);
  expect(looks()).toBe(3);
});

test('where a store may give less than it has, a short claim is followed by a look', async () => {
  const { receive, add, looks } = bench('relaxed');
  await add(1);
  await receive(5, 10_000);
  const next = receive(5, 10_000);
  await expect.poll(looks).toBe(2);
  await add(1);
  expect(sizeOf(await next)).toBe(1);
});
