import { describe, expect, it } from 'vitest';
import { rangeOf } from './record-rows.ts';

const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const isIn = (id: string, [from, to]: [string, string]): boolean => compare(from, id) <= 0 && compare(id, to) < 0;

const IDS = [
  '!',
  'a',
  'a!',
  'a~',
  'a\u{10ffff}',
  'a\u{10ffff}b',
  'b',
  '\ud7ff',
  '\ud7ffz',
  '\ue000',
  '😀',
  '😀😀',
  '😁',
];
IDS.push('\u{10ffff}', '\u{10ffff}'.repeat(128));

describe('the range of a query', () => {
  it.each(['', 'a', 'a\u{10ffff}', '~', '\ud7ff', '😀', '\u{10ffff}'])(
    'has what begins with %j and nothing else',
    (prefix) => {
      const found = IDS.filter((id) => isIn(id, rangeOf({ prefix, after: null })));
      expect(found).toEqual(IDS.filter((id) => id.startsWith(prefix)));
    },
  );

  it.each(IDS)('continues right behind %j', (after) => {
    const found = IDS.filter((id) => isIn(id, rangeOf({ prefix: '', after })));
    expect(found).toEqual(IDS.filter((id) => compare(id, after) > 0));
  });
});
