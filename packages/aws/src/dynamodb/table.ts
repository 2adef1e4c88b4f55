import { setTimeout as delay } from 'node:timers/promises';
import { WaybillError } from '@waybill/core';
import { firstAnswer } from '../first-answer.ts';
import { withPatience } from './failures.ts';
import type { Client, Sdk } from './sdk.ts';
import type { Settings } from './settings.ts';

/** Sparse, and with keys only: what changes in a row and is no key costs an index nothing. */
export const INDEXES = [
  { name: 'list', hash: 'lq', range: 'pk' },
  { name: 'due', hash: 'dp', range: 'dn' },
  { name: 'ready', hash: 'rq', range: 'rk' },
] as const;

const KEYS: readonly [name: string, type: 'S' | 'N'][] = [
  ['pk', 'S'],
  ['sk', 'S'],
  ['lq', 'S'],
  ['dp', 'S'],
  ['dn', 'N'],
  ['rq', 'S'],
  ['rk', 'S'],
];

/** The attribute by which DynamoDB removes what is over. */
export const EXPIRES = 'x';

/** Keys would do for our own handler; whoever else reads the stream finds the items in it. */
export const STREAM_VIEW = 'NEW_IMAGE';

const LOOK_EVERY_MS = 500;
const LONGEST_WAIT_MS = 120_000;

/** Makes the table when it is not there, and waits until it can be used. */
export async function ensureTable(sdk: Sdk, client: Client, settings: Settings): Promise<void> {
  const TableName = settings.table;
  let status = await firstAnswer(statusOf(sdk, client, settings), settings.place, settings);
  if (status === null) {
    if (!settings.createTable) {
      throw new WaybillError('unavailable', `The table '${TableName}' does not exist.`, {
        hint: '`waybill migrate` makes it.',
      });
    }
    status = await create(sdk, client, settings);
  }
  for (let waited = 0; status !== 'ACTIVE' && status !== 'UPDATING'; waited += LOOK_EVERY_MS) {
    if (waited > LONGEST_WAIT_MS)
      throw new WaybillError('unavailable', `The table '${TableName}' does not become active.`);
    await delay(LOOK_EVERY_MS);
    status = await statusOf(sdk, client, settings);
  }
}

/** Null: there is no such table. */
export async function statusOf(
  sdk: Sdk,
  client: Client,
  { table, timeouts }: Pick<Settings, 'table' | 'timeouts'>,
): Promise<string | null> {
  const command = new sdk.DescribeTableCommand({ TableName: table });
  try {
    const { Table } = await withPatience(() => client.send(command), timeouts);
    return Table?.TableStatus ?? null;
  } catch (reason) {
    if ((reason as Error).name === 'ResourceNotFoundException') return null;
    throw reason;
  }
}

async function create(sdk: Sdk, client: Client, settings: Settings): Promise<string> {
  const TableName = settings.table;
  const key = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' as const },
    { AttributeName: range, KeyType: 'RANGE' as const },
  ];
  try {
    const { TableDescription } = await client.send(
      new sdk.CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: KEYS.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
        KeySchema: key('pk', 'sk'),
        // Nobody pays for a stream that nobody reads.
        StreamSpecification: { StreamEnabled: true, StreamViewType: STREAM_VIEW },
        GlobalSecondaryIndexes: INDEXES.map(({ name, hash, range }) => ({
          IndexName: name,
          KeySchema: key(hash, range),
          Projection: { ProjectionType: 'KEYS_ONLY' as const },
        })),
      }),
    );
    await letExpire(sdk, client, settings);
    return TableDescription?.TableStatus ?? 'CREATING';
  } catch (reason) {
    // Somebody else makes it at this moment.
    if ((reason as Error).name === 'ResourceInUseException') return 'CREATING';
    throw reason;
  }
}

/** On AWS only an active table can be told so. */
async function letExpire(sdk: Sdk, client: Client, settings: Settings): Promise<void> {
  for (let waited = 0; (await statusOf(sdk, client, settings)) !== 'ACTIVE'; waited += LOOK_EVERY_MS) {
    if (waited > LONGEST_WAIT_MS) return;
    await delay(LOOK_EVERY_MS);
  }
  const TimeToLiveSpecification = { AttributeName: EXPIRES, Enabled: true };
  await client.send(new sdk.UpdateTimeToLiveCommand({ TableName: settings.table, TimeToLiveSpecification }));
}
