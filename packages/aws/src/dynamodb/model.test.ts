import { propertyRuns, testStoreAgainstModel } from '@waybill/core/testing';
import { describe } from 'vitest';
import { canRun, useLocalDynamo } from './testing/bench.ts';
import { FaultyClient } from './testing/faulty-client.ts';

describe.skipIf(!canRun)('on DynamoDB Local (skipped: needs Java 17)', () => {
  const { factory, open, client } = useLocalDynamo();
  // Few and short: DynamoDB Local makes a few hundred writes a second.
  testStoreAgainstModel('dynamodb', factory, { runs: propertyRuns(10), steps: 60, timeLimitMs: 120_000 });

  const disturbed = () => open({ client: new FaultyClient(client(), { loseEvery: 13, conflictEvery: 7 }) });
  testStoreAgainstModel('dynamodb, with lost answers and conflicts', disturbed, {
    runs: propertyRuns(5),
    steps: 50,
    timeLimitMs: 120_000,
  });
});
