import { testStoreAgainstModel } from '@waybill/core/testing';
import { describe } from 'vitest';
import { canRun, useLocalDynamo } from './testing/bench.ts';

describe.skipIf(!canRun)('on DynamoDB Local (skipped: needs Java 17)', () => {
  const { factory } = useLocalDynamo();
  // Few and short: DynamoDB Local makes a few hundred writes a second.
  testStoreAgainstModel('dynamodb', factory, { runs: 12, steps: 60, timeLimitMs: 90_000 });
});
