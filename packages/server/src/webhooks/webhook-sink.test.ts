import { SinkRefusal } from '@waybill/core';
import { TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { checkAnswer } from './webhook-sink.ts';

const HOUR = 3_600_000;

function askedFor(retryAfter: string): number | undefined {
  const clock = new TestClock();
  try {
    checkAnswer(
      { status: 503, retryAfter: retryAfter.replace('NOW', new Date(clock.now() + HOUR).toUTCString()) },
      clock,
    );
  } catch (error) {
    if (error instanceof SinkRefusal) return error.retryAfterMs;
  }
  throw new Error('The answer was not refused.');
}

test.each([
  ['120', 120_000],
  ['NOW', HOUR],
  ['0', undefined],
  ['-5', undefined],
  ['soon', undefined],
])('Retry-After: %s is a wait of %s ms', (text, ms) => {
  expect(askedFor(text)).toBe(ms);
});

test.each(['9999999999', '9'.repeat(20), '9'.repeat(400)])('Retry-After: %s is a number of seconds, too', (text) => {
  const ms = askedFor(text)!;
  expect([ms >= HOUR, Number.isSafeInteger(ms)]).toEqual([true, true]);
});
