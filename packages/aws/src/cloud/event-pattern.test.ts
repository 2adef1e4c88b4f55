import { expect, test } from 'vitest';
import { fits } from './event-pattern.ts';

const event = {
  source: 'waybill',
  'detail-type': 'job.completed',
  detail: { queue: 'mails', attempt: 3, tags: ['a', 'b'], nothing: null },
};

test.each([
  [{}, true],
  [{ source: ['waybill'] }, true],
  [{ source: ['other', 'waybill'] }, true],
  [{ source: ['other'] }, false],
  [{ source: ['waybill'], 'detail-type': ['job.failed'] }, false],
  [{ detail: { queue: ['mails'], attempt: [3] } }, true],
  [{ detail: { queue: ['mails'], absent: ['x'] } }, false],
  [{ detail: { tags: ['b'] } }, true],
  [{ detail: { nothing: [null] } }, true],
  [{ 'detail-type': [{ prefix: 'job.' }] }, true],
  [{ 'detail-type': [{ suffix: '.failed' }] }, false],
  [{ detail: { absent: [{ exists: false }] } }, true],
  [{ detail: { queue: [{ exists: false }] } }, false],
  [{ detail: { queue: [{ 'anything-but': ['mails', 'other'] }] } }, false],
  [{ detail: { queue: [{ 'anything-but': 'other' }] } }, true],
  [{ detail: { attempt: [{ numeric: ['>', 2, '<=', 3] }] } }, true],
  [{ detail: { attempt: [{ numeric: ['>', 3] }] } }, false],
  [{ detail: { queue: [{ 'no-such-test': 1 }] } }, false],
])('%j fits: %s', (pattern, isFit) => {
  expect(fits(pattern, event)).toBe(isFit);
});
