import type { TestClock } from '@waybill/core/testing';
import { describe } from 'vitest';
import { canRun, useLocalDynamo } from '../dynamodb/testing/bench.ts';
import { testHarmlessHints } from './testing/test-harmless-hints.ts';

describe.skipIf(!canRun)('on DynamoDB Local (skipped: needs Java 17)', () => {
  const { open } = useLocalDynamo();
  const storeWith = (ready: 'index' | 'none') => async (clock: TestClock) => (await open({ clock, ready })).store;

  testHarmlessHints('dynamodb + sqs', storeWith('index'), 1_000);
  testHarmlessHints('dynamodb without a ready index + sqs', storeWith('none'), 60_000);
});
