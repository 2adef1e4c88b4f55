import { expect, test } from 'vitest';
import { checkEntries } from './check-entries.ts';
import { ENTRY_OVERHEAD, entryBytes, isEntryType, LONGEST_TYPE } from './entry.ts';

test.each([
  ['bytes', { type: 'output', output: Buffer.from('äöü') }, 6],
  ['text, by its bytes and not by its characters', { type: 'step', data: 'äöü' }, 8],
  ['null', { type: 'step', data: null }, 4],
  ['nothing', { type: 'step' }, 0],
])('the size of an entry is the same where it is checked and where it is read: %s', (_, content, bytes) => {
  const [checked] = checkEntries([{ sequence: 1, ...content }], 0, 1_000);
  expect(checked!.bytes).toBe(ENTRY_OVERHEAD + bytes);
  expect(entryBytes(checked!)).toBe(checked!.bytes);
});

test('what is no JSON has no size', () => {
  expect(entryBytes({ data: (() => 1) as never })).toBe(ENTRY_OVERHEAD);
});

test('the name of a type is bounded', () => {
  expect(isEntryType('a'.repeat(LONGEST_TYPE))).toBe(true);
  expect(['a'.repeat(LONGEST_TYPE + 1), '', '-a', 'a b', 7].map(isEntryType)).toEqual([
    ...[false, false, false, false, false],
  ]);
});
