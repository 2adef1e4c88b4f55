import { testGates } from '@waybill/core/testing';
import { describe } from 'vitest';
import { canRun, useLocalDynamo } from './testing/bench.ts';

describe.skipIf(!canRun)('on DynamoDB Local (skipped: needs Java 17)', () => {
  const { factory } = useLocalDynamo();
  testGates('dynamodb', factory);
});
