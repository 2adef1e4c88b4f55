import { ENVELOPE_NAMES, LIMIT_NAMES, OPTION_NAMES, RATE_NAMES, RETRY_NAMES, UNIQUE_NAMES } from '@waybill/core';
import { expect, test } from 'vitest';
import { resolve } from '../testing/openapi.ts';

interface Named {
  properties: Record<string, unknown>;
}

test.each<[string, readonly string[]]>([
  ['requests.json#/JobOptions', OPTION_NAMES],
  ['requests.json#/JobRequest', [...ENVELOPE_NAMES, 'specversion']],
  ['requests.json#/Retry', RETRY_NAMES],
  ['requests.json#/Unique', UNIQUE_NAMES],
  ['requests.json#/RateLimit', LIMIT_NAMES],
  ['queues.json#/schemas/PeriodRequest', RATE_NAMES],
])('D5: %s names the fields that the engine reads', (ref, names) => {
  expect(Object.keys(resolve<Named>(ref).properties).sort()).toEqual([...names].sort());
});

test('D5: an option stands beside the type or among the options, whichever option it is', () => {
  const { not } = resolve<{ not: { anyOf: { required: string[] }[] } }>('requests.json#/JobRequest');
  expect(not.anyOf.flatMap(({ required }) => required).sort()).toEqual([...OPTION_NAMES].sort());
});
