import { TestClock } from '@waybill/core/testing';
import { expect, it } from 'vitest';
import { Deadlines } from './deadlines.ts';

const never = () => new Promise<string>(() => {});

it('passes answers and refusals on', async () => {
  const deadlines = new Deadlines(1_000, new TestClock(), new AbortController().signal);
  expect(await deadlines.within(Promise.resolve('answer'))).toBe('answer');
  await expect(deadlines.within(Promise.reject(new Error('no')))).rejects.toThrow('no');
});

it('each call has its own time, with one timer for all', async () => {
  const clock = new TestClock();
  const deadlines = new Deadlines(1_000, clock, new AbortController().signal);
  const first = expect(deadlines.within(never())).rejects.toMatchObject({ code: 'timeout' });
  await clock.advance(600);
  let secondFailed = false;
  const second = deadlines.within(never()).catch(() => {
    secondFailed = true;
  });
  expect(clock.sleepers).toBe(1);
  await clock.advance(400);
  await first;
  expect(secondFailed).toBe(false);
  await clock.advance(600);
  await second;
  expect(secondFailed).toBe(true);
});

it('giving up fails what waits and what comes later', async () => {
  const giveUp = new AbortController();
  const deadlines = new Deadlines(1_000, new TestClock(), giveUp.signal);
  const waiting = expect(deadlines.within(never())).rejects.toThrow('Nobody waits any longer.');
  giveUp.abort();
  await waiting;
  await expect(deadlines.within(never())).rejects.toThrow('Nobody waits any longer.');
});
