import { TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { SideMessages, withSideMessages } from './side-messages.ts';

/** Items that the test sends one by one. */
function items() {
  const waiting: { resolve(result: IteratorResult<string>): void; reject(error: Error): void }[] = [];
  let returned = 0;
  const stream: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise((resolve, reject) => waiting.push({ resolve, reject })),
      return: async () => {
        returned += 1;
        return { done: true, value: undefined };
      },
    }),
  };
  return {
    stream,
    send: (value: string) => waiting.shift()!.resolve({ done: false, value }),
    fail: () => waiting.shift()!.reject(new Error('broken')),
    asked: () => waiting.length,
    returned: () => returned,
  };
}

const itemOf = async (next: Promise<IteratorResult<string>>) => (await next).value;

test('a side message comes at once while no item does, and before an item that came after it', async () => {
  const { stream, send } = items();
  const side = new SideMessages<string>();
  const all = withSideMessages(stream, { side });
  const first = all.next();
  side.put('live', 'live');
  expect(await itemOf(first)).toBe('live');
  side.put('missed', 'missed');
  send('one');
  expect(await itemOf(all.next())).toBe('missed');
  expect(await itemOf(all.next())).toBe('one');
});

test('of each name only the newest waits for a reader that takes nothing', async () => {
  const { stream, send, asked } = items();
  const side = new SideMessages<string>();
  const all = withSideMessages(stream, { side });
  const first = all.next();
  send('one');
  expect(await itemOf(first)).toBe('one');
  for (let place = 1; place <= 1_000; place += 1) side.put('place', `place ${place}`);
  side.put('missed', 'missed');
  // The next item is asked for when the reader has taken the one before.
  expect(asked()).toBe(0);
  const taken = [await itemOf(all.next()), await itemOf(all.next())];
  expect(taken).toEqual(['place 1000', 'missed']);
  expect(side.take()).toEqual([]);
});

test('an idle stream sends heartbeats, one that sends items does not, and none pile up', async () => {
  const { stream, send } = items();
  const clock = new TestClock();
  const all = withSideMessages(stream, { heartbeat: { clock, everyMs: 1_000, message: () => 'alive' } });
  let next = all.next();
  await clock.advance(600);
  send('one');
  expect(await itemOf(next)).toBe('one');
  next = all.next();
  await clock.advance(600);
  send('two');
  expect(await itemOf(next)).toBe('two');
  // The reader takes nothing for a while.
  await clock.advance(10_000);
  expect(await itemOf(all.next())).toBe('alive');
  next = all.next();
  await clock.advance(999);
  send('three');
  expect(await itemOf(next)).toBe('three');
  await all.return(undefined);
  expect(clock.sleepers).toBe(0);
});

test('an item that fails ends the stream with its error, behind the side messages of before', async () => {
  const { stream, fail, returned } = items();
  const side = new SideMessages<string>();
  const all = withSideMessages(stream, { side });
  const first = all.next();
  side.put('missed', 'missed');
  fail();
  expect(await itemOf(first)).toBe('missed');
  await expect(all.next()).rejects.toThrow('broken');
  expect(returned()).toBe(1);
});
