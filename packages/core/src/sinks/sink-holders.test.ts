import { expect, test } from 'vitest';
import { memoryStore } from '../store/memory/memory-store.ts';
import type { RecordStore } from '../store/records.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';

const KEY = { tenant: '', id: 'w' };
const WEBHOOK = { kind: 'webhook', id: 'w', value: { url: 'https://example.com' }, expected: 0 };

/** An engine whose store holds one call about records back until the test lets it go. */
function heldBack(verb: 'get' | 'remove', kind: string) {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  let isHeld = false;
  const wait = async (of: string) => {
    if (of !== kind || isHeld) return;
    isHeld = true;
    reached.resolve();
    await gate.promise;
  };
  const { records } = store;
  const held: RecordStore = {
    put: (requests) => records.put(requests),
    list: (query) => records.list(query),
    get: async (keys) => {
      const found = await records.get(keys);
      if (verb === 'get') await wait(keys[0]!.kind);
      return found;
    },
    remove: async (key, expected, told) => {
      const answer = await records.remove(key, expected, told);
      if (verb === 'remove') await wait(key.kind);
      return answer;
    },
  };
  const slow = testEngine({ on: { ...store, records: held }, clock, maintenance: false });
  const fast = testEngine({ on: store, clock, maintenance: false });
  return { slow: slow.waybill, fast: fast.waybill, reached: reached.promise, letGo: gate.resolve };
}

// fault: of two calls that make the same webhook, one stalls after it has found none
test('a call that is too late to make a webhook does not move the place of the one that is there', async () => {
  const { slow, fast, reached, letGo } = heldBack('get', 'webhook');
  const late = slow.records.put(WEBHOOK).catch(({ code }) => code);
  await reached;
  await fast.records.put(WEBHOOK);
  const begun = await fast.sinks.state(KEY);
  await fast.jobs.enqueue({ type: 'test.job', args: [] });
  letGo();
  expect(await late).toBe('conflict');
  expect((await fast.sinks.state(KEY))!.cursor).toBe(begun!.cursor);
});

// fault: a removal stalls after the record is gone, and the webhook is made anew meanwhile
test('a removal does not take along what is kept of a webhook that was made anew', async () => {
  const { slow, fast, reached, letGo } = heldBack('remove', 'webhook');
  await fast.records.put(WEBHOOK);
  const removing = slow.records.remove('webhook', 'w');
  await reached;
  await fast.records.put(WEBHOOK);
  const begun = await fast.sinks.state(KEY);
  letGo();
  await removing;
  expect(begun).not.toBeNull();
  expect(await fast.sinks.state(KEY)).toEqual(begun);
});
