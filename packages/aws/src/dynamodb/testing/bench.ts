import { randomUUID } from 'node:crypto';
import { DeleteTableCommand, type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { silentLogger } from '@waybill/core';
import { type Damage, type StoreFactory, type StoreUnderTest, TestClock } from '@waybill/core/testing';
import { sharedAddress } from '@waybill/sql/postgres/testing';
import { afterAll, beforeAll, beforeEach, inject } from 'vitest';
import { hasJava, localClient, newAccessKey } from '../../testing/local-dynamo.ts';
import type { Key } from '../items.ts';
import { cronKey, jobKey, limitKey, recordKey } from '../keys.ts';
import type { DynamoOptions } from '../settings.ts';
import { type DynamoStore, dynamoStore } from '../store.ts';

/** Skipped only where Java is missing, and that nobody accepts in CI. */
export const canRun = hasJava || process.env['CI'] === 'true';

/** One server for all tests of the run, or the one that the environment names; each test has a database of its own in it. */
export function useLocalDynamo() {
  let endpoint: string | undefined;
  let client: DynamoDBClient | undefined;
  let accessKey = '';
  const clients: DynamoDBClient[] = [];
  const renewClient = () => {
    accessKey = newAccessKey();
    client = localClient(endpoint!, accessKey);
    clients.push(client);
  };
  beforeAll(async () => {
    if (!canRun) return;
    endpoint = process.env['WAYBILL_TEST_DYNAMODB'] ?? (await sharedAddress(inject('dynamoAddressUrl')));
    renewClient();
  });
  beforeEach(() => {
    if (canRun) renewClient();
  });
  // What a test closes at its end still needs its client.
  afterAll(() => {
    for (const used of clients.splice(0)) used.destroy();
  });

  const newTable = (): string => `waybill-${randomUUID()}`;
  const open = async (
    options: Partial<DynamoOptions> & { clock?: TestClock } = {},
  ): Promise<StoreUnderTest & { store: DynamoStore }> => {
    const { table = newTable(), clock = new TestClock() } = options;
    const mine = client!;
    const store = await dynamoStore({ client: mine, logger: silentLogger, ...options, table, clock });
    const close = async () => {
      await store.close();
      await mine.send(new DeleteTableCommand({ TableName: table }));
    };
    const spoil = async (key: Key, attribute: string): Promise<void> => {
      const Key = { pk: { S: key.pk }, sk: { S: key.sk } };
      const names = { ExpressionAttributeNames: { '#a': attribute }, ExpressionAttributeValues: { ':v': { S: '{' } } };
      await mine.send(new UpdateItemCommand({ TableName: table, Key, UpdateExpression: 'set #a = :v', ...names }));
    };
    const damage: Damage = {
      job: ({ tenant, id }) => spoil(jobKey(tenant, id), 'sp'),
      cron: ({ tenant, name }) => spoil(cronKey(tenant, name), 'te'),
      record: (key) => spoil(recordKey(key), 'va'),
      limit: ({ tenant, key }) => spoil(limitKey(tenant, key), 'wi'),
    };
    return { store, clock, damage, close };
  };
  const factory: StoreFactory = () => open();
  return {
    ...{ open, factory, newTable },
    client: (): DynamoDBClient => client!,
    endpoint: (): string => endpoint!,
    /** Clients that a test makes itself need it, to find its tables. */
    accessKey: (): string => accessKey,
  };
}
