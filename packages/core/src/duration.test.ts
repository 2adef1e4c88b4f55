import { expect, test } from 'vitest';
import { parseDuration } from './duration.ts';

test.each([
  ['PT0.5S', 500],
  ['PT1S', 1_000],
  ['PT1M30S', 90_000],
  ['PT24H', 86_400_000],
  ['P1D', 86_400_000],
  ['P1DT1H', 90_000_000],
  ['P2W', 1_209_600_000],
  ['PT0S', 0],
])('%s is %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', 'P', 'PT', 'P1DT', '1S', 'PT-1S', '-PT1S', 'PT1', 'P1Y', 'P1M', 'pt1s', 'PT1S '])(
  '%j is no duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);
