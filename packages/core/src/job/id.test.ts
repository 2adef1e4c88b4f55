import { expect, test } from 'vitest';
import { isJobId, newJobId } from './id.ts';

test('new ids are valid, distinct and carry their time', () => {
  const now = Date.UTC(2030, 5, 1);
  const ids = Array.from({ length: 2_000 }, () => newJobId(now));
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) {
    expect(isJobId(id)).toBe(true);
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(now);
  }
  expect(newJobId(now) < newJobId(now + 1)).toBe(true);
});
