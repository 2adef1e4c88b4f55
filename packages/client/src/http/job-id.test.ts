import { isJobId } from '@waybill/core';
import { expect, test } from 'vitest';
import { newJobId } from './job-id.ts';

test('ids are UUIDv7 that the engine takes, sort by time and differ', () => {
  const ids = Array.from({ length: 1_000 }, () => newJobId());
  expect(ids.every(isJobId)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  expect(newJobId(Date.UTC(2030, 0, 1)) < newJobId(Date.UTC(2030, 0, 1) + 1)).toBe(true);
});
