import { setTimeout as delay } from 'node:timers/promises';
import { WaybillError } from '@waybill/core';
import { withPatience } from '../../dynamodb/failures.ts';
import type { Client, Sdk } from '../../dynamodb/sdk.ts';
import { statusOf } from '../../dynamodb/table.ts';
import type { Timeouts } from '../../timeouts.ts';
import { INDEX_NUMBERS, type IndexNumber } from '../keys.ts';
import { TTL } from './event-item.ts';

export const indexName = (number: IndexNumber): string => `GSI${number}-index`;

const LOOK_EVERY_MS = 500;
const LONGEST_WAIT_MS = 120_000;

interface TableParts {
  sdk: Sdk;
  client: Client;
  table: string;
  timeouts: Timeouts;
}

/** Makes the table of events, unless it is there: paid per request, with its seven indexes and expiry by `ttl`. */
export async function createEventTable(parts: TableParts): Promise<void> {
  const { sdk, client, table: TableName, timeouts } = parts;
  if ((await statusOf(sdk, client, parts)) === null) {
    const key = (name: string) => [
      { AttributeName: `${name}pk`, KeyType: 'HASH' as const },
      { AttributeName: `${name}sk`, KeyType: 'RANGE' as const },
    ];
    const names = ['', ...INDEX_NUMBERS.map((number) => `gsi${number}`)].flatMap((name) => [`${name}pk`, `${name}sk`]);
    const command = new sdk.CreateTableCommand({
      ...{ TableName, BillingMode: 'PAY_PER_REQUEST' as const, KeySchema: key('') },
      AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
      GlobalSecondaryIndexes: INDEX_NUMBERS.map((number) => ({
        ...{ IndexName: indexName(number), KeySchema: key(`gsi${number}`) },
        Projection: { ProjectionType: 'ALL' as const },
      })),
    });
    await withPatience(() => client.send(command), timeouts).catch(unless('ResourceInUseException'));
  }
  await untilActive(parts);
  const TimeToLiveSpecification = { AttributeName: TTL, Enabled: true };
  // It is refused where it is enabled already.
  const command = new sdk.UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification });
  await withPatience(() => client.send(command), timeouts).catch(unless('ValidationException'));
}

async function untilActive(parts: TableParts): Promise<void> {
  const { sdk, client } = parts;
  for (let waited = 0; (await statusOf(sdk, client, parts)) !== 'ACTIVE'; waited += LOOK_EVERY_MS) {
    if (waited > LONGEST_WAIT_MS)
      throw new WaybillError('unavailable', `The table '${parts.table}' does not become active.`);
    await delay(LOOK_EVERY_MS);
  }
}

const unless = (name: string) => (reason: unknown) => {
  if ((reason as Error).name !== name) throw reason;
};
