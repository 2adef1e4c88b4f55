import { propertyRuns, testRandomFlows } from '@waybill/core/testing';
import { describe } from 'vitest';
import { canRun, useLocalDynamo } from './testing/bench.ts';

describe.skipIf(!canRun)('on DynamoDB Local (skipped: needs Java 17)', () => {
  const { factory } = useLocalDynamo();
  // Few and small: DynamoDB Local makes a few hundred writes a second.
  testRandomFlows('dynamodb', factory, { runs: propertyRuns(5), size: 15 });
});
