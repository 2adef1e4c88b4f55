import { describe } from 'vitest';
import { canRun, useLocalDynamo } from '../dynamodb/testing/bench.ts';
import { testDispatcherRace } from './testing/test-dispatcher-race.ts';

describe.skipIf(!canRun)('on DynamoDB Local (skipped: needs Java 17)', () => {
  const { factory } = useLocalDynamo();
  testDispatcherRace('dynamodb', factory);
});
