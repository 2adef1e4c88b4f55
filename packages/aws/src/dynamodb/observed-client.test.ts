import { expect, test } from 'vitest';
import { observedClient } from './observed-client.ts';
import type { Client } from './sdk.ts';

class PutItemCommand {}
class BatchGetItemCommand {}

/** A client whose answers are these, one after the other. */
const answering = (...answers: unknown[]): Client =>
  ({
    send: async () => {
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    },
  }) as unknown as Client;

const throttled = Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' });

test('tells of every request, of those that are throttled and of batches that were left undone', async () => {
  const told: string[] = [];
  const client = observedClient(
    answering({}, throttled, { UnprocessedKeys: { table: { Keys: [] } } }, { UnprocessedKeys: {} }, new Error('other')),
    {
      operation: (name) => told.push(`operation ${name}`),
      throttled: (name) => told.push(`throttled ${name}`),
      batchRetried: (name) => told.push(`retried ${name}`),
    },
  );
  const put = () => client.send(new PutItemCommand() as never);
  const batch = () => client.send(new BatchGetItemCommand() as never);
  await put();
  await expect(put()).rejects.toBe(throttled);
  await batch();
  await batch();
  await expect(put()).rejects.toThrow('other');
  expect(told).toEqual([
    'operation PutItem',
    ...['operation PutItem', 'throttled PutItem'],
    ...['operation BatchGetItem', 'retried BatchGetItem'],
    'operation BatchGetItem',
    'operation PutItem',
  ]);
});

// fault: an observer that throws
test('an observer that throws changes nothing', async () => {
  const broken = () => {
    throw new Error('broken');
  };
  const client = observedClient(answering({ Item: 1 }), { operation: broken });
  expect(await client.send(new PutItemCommand() as never)).toEqual({ Item: 1 });
});
