import type { JournalEntry } from '@waybill/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { entryFromWire, entryToWire, newEntryToWire, outputFromWire } from './journal-wire.ts';

const AT = Date.UTC(2030, 0, 31, 12);
const output = (bytes: Uint8Array): JournalEntry => ({
  ...{ run: 2, sequence: 0, at: AT, type: 'output', stream: 'stderr', output: bytes },
});
const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value));

test('any bytes come back, and are readable where they are text', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.string({ unit: 'binary' }).map((text) => new TextEncoder().encode(text)),
  );
  fc.assert(
    fc.property(bytes, (some) => {
      const wire = throughJson(entryToWire(output(some)));
      expect(Object.keys(wire).filter((name) => name.startsWith('output'))).toHaveLength(1);
      expect(entryFromWire(wire)).toEqual(output(some));
      expect(outputFromWire(throughJson(newEntryToWire(output(some))))).toEqual(some);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['nothing', [], { output: '' }],
  ['text with a byte order mark', [0xef, 0xbb, 0xbf, 0x61], { output: '\ufeffa' }],
  ['a zero', [0], { output: '\0' }],
  ['half of a character', [0xc3], { output_base64: 'ww==' }],
  ['a surrogate', [0xed, 0xa0, 0x80], { output_base64: '7aCA' }],
])('%s', (_, bytes, told) => {
  const wire = entryToWire(output(Uint8Array.from(bytes)));
  expect(wire).toEqual({
    run: 2,
    sequence: 0,
    time: '2030-01-31T12:00:00.000Z',
    type: 'output',
    stream: 'stderr',
    ...told,
  });
  expect(entryFromWire(throughJson(wire)).output).toEqual(Uint8Array.from(bytes));
});

test('a megabyte that is no text comes back', () => {
  const bytes = Uint8Array.from({ length: 1_000_000 }, (_, index) => (index * 7) % 256);
  expect(entryFromWire(entryToWire(output(bytes))).output).toEqual(bytes);
});

test('what is no output has data, be it null, or none', () => {
  for (const data of [{ data: { pid: 7 } }, { data: null }, {}]) {
    const entry: JournalEntry = { run: 1, sequence: 3, at: AT, type: 'my.own', ...data };
    expect(entryToWire(entry)).toEqual({
      run: 1,
      sequence: 3,
      time: '2030-01-31T12:00:00.000Z',
      type: 'my.own',
      ...data,
    });
    expect(entryFromWire(throughJson(entryToWire(entry)))).toEqual(entry);
  }
  expect(newEntryToWire({ sequence: 1, type: 'heartbeat' })).toEqual({ sequence: 1, type: 'heartbeat' });
});
