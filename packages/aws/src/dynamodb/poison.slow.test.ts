import { propertyRuns, testPoison } from '@waybill/core/testing';
import { describe } from 'vitest';
import { canRun, useLocalDynamo } from './testing/bench.ts';

describe.skipIf(!canRun)('on DynamoDB Local (skipped: needs Java 17)', () => {
  const { factory } = useLocalDynamo();
  // Each write takes milliseconds there.
  testPoison('dynamodb', factory, { jobs: 200, runs: propertyRuns(5) });
});
