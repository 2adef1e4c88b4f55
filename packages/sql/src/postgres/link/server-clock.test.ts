import { TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { tempLink } from '../testing/server.ts';
import { ServerClock } from './server-clock.ts';

/** A server whose clock is ahead, at the end of a network that takes its time both ways. */
function distant(local: TestClock, ways: { ahead: number; there: number; back: number }) {
  return async () => {
    await local.advance(ways.there);
    const theirs = local.now() + ways.ahead;
    await local.advance(ways.back);
    return theirs;
  };
}

test('the time of the server is known to half a round trip', async () => {
  for (const [there, back] of [
    [10, 10],
    [40, 0],
    [0, 40],
  ] as const) {
    const local = new TestClock();
    const ways = { ahead: 90_000, there, back };
    const clock = new ServerClock(distant(local, ways), local);
    await clock.measure();
    const error = clock.now() - (local.now() + ways.ahead);
    expect(Math.abs(error)).toBeLessThanOrEqual((there + back) / 2);
  }
});

test('of several measurements the fastest counts', async () => {
  const local = new TestClock();
  const ways = { ahead: 5_000, there: 900, back: 0 };
  const ask = distant(local, ways);
  const clock = new ServerClock(async () => {
    const theirs = await ask();
    ways.there = 0;
    return theirs;
  }, local);
  await clock.measure();
  expect(clock.now()).toBe(local.now() + 5_000);
});

test('a measurement that does not disprove the last one changes nothing, one that does is taken over', async () => {
  const local = new TestClock();
  const ways = { ahead: 1_000, there: 10, back: 10 };
  const clock = new ServerClock(distant(local, ways), local);
  await clock.measure();
  ways.ahead = 1_008;
  await clock.measure();
  expect(clock.now() - local.now()).toBe(1_000);
  ways.ahead = 1_020;
  await clock.measure();
  expect(clock.now() - local.now()).toBe(1_020);
});

test('setting the clock of this machine changes nothing, and the server is asked again', async () => {
  const local = new TestClock();
  let asked = 0;
  const server = local.now() + 500;
  const clock = new ServerClock(async () => {
    asked++;
    return server + local.monotonic();
  }, local);
  await clock.measure();
  const before = clock.now();
  const askedBefore = asked;
  local.jump(3_600_000);
  expect(clock.now()).toBe(before);
  expect(asked).toBeGreaterThan(askedBefore);
});

test('a real server is asked', async () => {
  const link = await tempLink({ migrate: false });
  const ask = 'select extract(epoch from clock_timestamp())::float8 * 1000';
  const before = (await link.query<[number]>(ask))[0]![0];
  const now = link.clock.now();
  const after = (await link.query<[number]>(ask))[0]![0];
  // Rounded to a millisecond, and wrong by half a round trip.
  expect(now).toBeGreaterThanOrEqual(before - 25);
  expect(now).toBeLessThanOrEqual(after + 25);
});
