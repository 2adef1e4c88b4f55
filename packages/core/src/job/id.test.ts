import { expect, test } from 'vitest';
import { isJobId, newJobId } from './id.ts';

test('new ids are valid, distinct, in order, and carry their time', () => {
  const now = Date.UTC(2030, 5, 1);
  // Enough for each part of the counter to carry over.
  const ids = Array.from({ length: 20_000 }, () => newJobId(now));
  expect(ids).toEqual([...new Set(ids)].sort());
  for (const id of ids) {
    expect(isJobId(id)).toBe(true);
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(now);
  }
  expect(newJobId(now) < newJobId(now + 1)).toBe(true);
});

test.each([
  ['01b8dac5-b400-7000-8000-000000000001', true],
  ['01B8DAC5-B400-7000-8000-00000000000A', false],
  ['01b8dac5-b400-4000-8000-000000000001', false],
  ['01b8dac5-b400-7000-c000-000000000001', false],
  ['01b8dac5b40070008000000000000001', false],
  ['', false],
])('%s is a job id: %s', (text, expected) => {
  expect(isJobId(text)).toBe(expected);
});
