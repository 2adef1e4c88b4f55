import { describe, expect, test } from 'vitest';
import { checkSchedule, nextTick } from './schedule.ts';

const at = (text: string): number => Date.parse(text);

function ticks(expression: string, timezone: string, from: string, count: number): string[] {
  const found: string[] = [];
  let after = at(from);
  for (let tick = 0; tick < count; tick += 1) {
    after = nextTick({ expression, timezone }, after)!;
    found.push(new Date(after).toISOString());
  }
  return found;
}

describe('guarantee 9: clock changes in New York', () => {
  // fault: the clock skips an hour
  test('a local time that is skipped fires once', () => {
    expect(ticks('30 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', 3)).toEqual([
      '2026-03-08T07:00:00.000Z',
      '2026-03-09T06:30:00.000Z',
      '2026-03-10T06:30:00.000Z',
    ]);
  });

  // fault: the clock repeats an hour
  test('a local time that comes twice fires once', () => {
    expect(ticks('30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', 2)).toEqual([
      '2026-11-01T05:30:00.000Z',
      '2026-11-02T06:30:00.000Z',
    ]);
  });

  // fault: the clock skips an hour
  test('an hourly schedule loses and doubles nothing', () => {
    expect(ticks('0 * * * *', 'America/New_York', '2026-03-08T05:30:00Z', 3)).toEqual([
      '2026-03-08T06:00:00.000Z',
      '2026-03-08T07:00:00.000Z',
      '2026-03-08T08:00:00.000Z',
    ]);
  });
});

test('names and zones', () => {
  expect(ticks('@daily', 'UTC', '2026-01-01T05:00:00Z', 1)).toEqual(['2026-01-02T00:00:00.000Z']);
  expect(ticks('0 9 * * MON-FRI', 'Asia/Tokyo', '2026-01-02T12:00:00Z', 1)).toEqual(['2026-01-05T00:00:00.000Z']);
  expect(ticks('0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', 1)).toEqual(['2028-02-29T00:00:00.000Z']);
});

test.each([
  ['no cron at all', 'not a valid cron', 'UTC', 'expression'],
  ['seven fields', '0 0 0 0 0 0 0', 'UTC', 'expression'],
  ['every second', '* * * * * *', 'UTC', 'expression'],
  ['values out of range', '99 25 32 13 8', 'UTC', 'expression'],
  ['a step of zero', '*/0 * * * *', 'UTC', 'expression'],
  ['a day that never comes', '0 0 31 2 *', 'UTC', 'expression'],
  ['a date', '2026-12-01T00:00:00', 'UTC', 'expression'],
  ['an unknown name', '@fortnightly', 'UTC', 'expression'],
  ['an unknown zone', '* * * * *', 'Nowhere/Land', 'timezone'],
  ['an abbreviation as zone', '* * * * *', 'EST', 'timezone'],
  ['an offset as zone', '* * * * *', '+05:00', 'timezone'],
])('refuses %s', (_, expression, timezone, field) => {
  const check = () => checkSchedule({ expression, timezone }, at('2026-01-01T00:00:00Z'));
  expect(check).toThrow(expect.objectContaining({ code: 'validation_error', details: { field } }));
});
