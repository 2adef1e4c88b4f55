import { randomUUID } from 'node:crypto';
import { DeleteTableCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { silentLogger } from '@waybill/core';
import { type Damage, type StoreFactory, type StoreUnderTest, TestClock } from '@waybill/core/testing';
import { afterAll, beforeAll, vi } from 'vitest';
import { hasJava, type LocalDynamo, localClient, startLocalDynamo } from '../../testing/local-dynamo.ts';
import type { Key } from '../items.ts';
import { cronKey, jobKey, limitKey } from '../keys.ts';
import type { Client } from '../sdk.ts';
import type { DynamoOptions } from '../settings.ts';
import { type DynamoStore, dynamoStore } from '../store.ts';

/** Skipped only where Java is missing, and that nobody accepts in CI. */
export const canRun = hasJava || process.env['CI'] === 'true';

/** One server for the tests of a file, each with a table of its own. */
export function useLocalDynamo() {
  // DynamoDB Local is slow, and slower beside other tests.
  vi.setConfig({ testTimeout: 120_000 });
  let server: LocalDynamo | undefined;
  let client: ReturnType<typeof localClient> | undefined;
  beforeAll(async () => {
    if (!canRun) return;
    server = await startLocalDynamo();
    client = localClient(server.endpoint);
  }, 90_000);
  afterAll(async () => {
    client?.destroy();
    await server?.stop();
  });

  const newTable = (): string => `waybill-${randomUUID()}`;
  const open = async (
    options: Partial<DynamoOptions> & { clock?: TestClock } = {},
  ): Promise<StoreUnderTest & { store: DynamoStore }> => {
    const { table = newTable(), clock = new TestClock() } = options;
    const store = await dynamoStore({ client: client!, logger: silentLogger, ...options, table, clock });
    const close = async () => {
      await store.close();
      await client!.send(new DeleteTableCommand({ TableName: table }));
    };
    const spoil = async (key: Key, attribute: string): Promise<void> => {
      const Key = { pk: { S: key.pk }, sk: { S: key.sk } };
      const names = { ExpressionAttributeNames: { '#a': attribute }, ExpressionAttributeValues: { ':v': { S: '{' } } };
      await client!.send(
        new UpdateItemCommand({ TableName: table, Key, UpdateExpression: 'set #a = :v', ...names }) as never,
      );
    };
    const damage: Damage = {
      job: ({ tenant, id }) => spoil(jobKey(tenant, id), 'sp'),
      cron: ({ tenant, name }) => spoil(cronKey(tenant, name), 'te'),
      limit: ({ tenant, key }) => spoil(limitKey(tenant, key), 'wi'),
    };
    return { store, clock, damage, close };
  };
  const factory: StoreFactory = () => open();
  return { open, factory, newTable, client: (): Client => client!, endpoint: (): string => server!.endpoint };
}
