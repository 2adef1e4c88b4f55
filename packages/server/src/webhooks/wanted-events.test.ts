import { expect, test } from 'vitest';
import { wants } from './wanted-events.ts';

test.each([
  [['*'], 'job.completed', true],
  [['*'], 'queue.paused', true],
  [['*'], 'audit.recorded', false],
  [['*', 'audit.*'], 'audit.recorded', true],
  [['audit.recorded'], 'audit.recorded', true],
  [['job.*'], 'job.failed', true],
  [['job.*'], 'queue.paused', false],
  [['job.failed'], 'job.completed', false],
])('%j wants %s: %s', (events, type, is) => {
  expect(wants(events, type)).toBe(is);
});
