import type { Check } from '../../doctor/check.ts';
import type { Client, GlobalSecondaryIndexDescription, KeySchemaElement, Sdk, TableDescription } from '../sdk.ts';
import type { Settings } from '../settings.ts';
import { EXPIRES, INDEXES, STREAM_VIEW } from '../table.ts';

const MIB = 1024 * 1024;

export function checkTable(table: TableDescription): Check {
  const name = 'table';
  const { TableName, TableStatus = 'unknown', ItemCount = 0, TableSizeBytes = 0 } = table;
  const keys = keysOf(table.KeySchema);
  if (keys !== 'pk, sk') {
    const hint = 'It is a table of something else: name another one.';
    return { name, status: 'fail', message: `the keys of '${TableName}' are ${keys} instead of pk, sk`, hint };
  }
  const size = `about ${ItemCount} items, ${Math.ceil(TableSizeBytes / MIB)} MiB`;
  const message = `${TableName} is ${TableStatus.toLowerCase()}, ${billingOf(table)}, ${size}`;
  // While an index is added or the billing is changed the table goes on as ever.
  if (TableStatus === 'ACTIVE' || TableStatus === 'UPDATING') return { name, status: 'ok', message };
  return { name, status: 'fail', message, hint: 'It cannot be used until it is active.' };
}

function billingOf({ BillingModeSummary, ProvisionedThroughput }: TableDescription): string {
  if (BillingModeSummary?.BillingMode === 'PAY_PER_REQUEST') return 'paid per request';
  const { ReadCapacityUnits = 0, WriteCapacityUnits = 0 } = ProvisionedThroughput ?? {};
  return `provisioned with ${ReadCapacityUnits} read and ${WriteCapacityUnits} write units`;
}

/** Without `ready` jobs are claimed by the ids that messages name, which is all that a queue needs. */
export function checkIndexes(table: TableDescription, settings: Settings, polls: boolean): Check {
  const name = 'indexes';
  if (polls && !settings.claimsByRank) {
    const message = 'ready=none finds jobs by messages only, and no transport brings any';
    return { name, status: 'fail', message, hint: 'Name an sqs:// transport, or leave ready=none out.' };
  }
  const found = new Map((table.GlobalSecondaryIndexes ?? []).map((index) => [index.IndexName, index]));
  const needed = INDEXES.filter((index) => index.name !== 'ready' || settings.claimsByRank);
  const missing = needed.filter((index) => !found.has(index.name)).map((index) => index.name);
  const wrong = needed.filter(({ name, hash, range }) => {
    const index = found.get(name);
    return index !== undefined && keysOf(index.KeySchema) !== `${hash}, ${range}`;
  });
  if (missing.length + wrong.length > 0) {
    const parts = [
      ...missing.map((index) => `'${index}' is missing`),
      ...wrong.map((index) => `'${index.name}' has the keys ${keysOf(found.get(index.name)?.KeySchema)}`),
    ];
    const hint = 'Add what is missing as infra describes (keys only), or let `waybill migrate` make a new table.';
    return { name, status: 'fail', message: parts.join('; '), hint };
  }
  return checkStates(needed.map((index) => found.get(index.name)!));
}

function checkStates(indexes: readonly GlobalSecondaryIndexDescription[]): Check {
  const name = 'indexes';
  const building = indexes.filter(({ IndexStatus }) => IndexStatus !== 'ACTIVE' && IndexStatus !== 'UPDATING');
  if (building.length > 0) {
    const message = building.map(({ IndexName, IndexStatus }) => `'${IndexName}' is ${IndexStatus?.toLowerCase()}`);
    return { name, status: 'fail', message: message.join('; '), hint: 'Jobs are not found by it until it is active.' };
  }
  const wide = indexes.filter(({ Projection }) => Projection?.ProjectionType !== 'KEYS_ONLY');
  const names = (list: typeof indexes): string => list.map(({ IndexName }) => IndexName).join(', ');
  if (wide.length === 0) return { name, status: 'ok', message: `${names(indexes)} are active` };
  const hint = 'Every change of a row is written to such an index too and paid for: keys are enough.';
  return { name, status: 'warn', message: `${names(wide)} hold more than keys`, hint };
}

export async function checkExpiry(sdk: Sdk, client: Client, TableName: string): Promise<Check> {
  const name = 'expiry';
  const answer = await client.send(new sdk.DescribeTimeToLiveCommand({ TableName }));
  const { TimeToLiveStatus: status, AttributeName } = answer.TimeToLiveDescription ?? {};
  const isOn = status === 'ENABLED' || status === 'ENABLING';
  if (isOn && AttributeName === EXPIRES) return { name, status: 'ok', message: 'DynamoDB removes what is old' };
  const message = isOn ? `by '${AttributeName}' instead of '${EXPIRES}'` : 'off, so nothing old is ever removed';
  const setting = `Enabled=true,AttributeName=${EXPIRES}`;
  const hint = `aws dynamodb update-time-to-live --table-name ${TableName} --time-to-live-specification ${setting}`;
  return { name, status: 'warn', message, hint };
}

/** The event log is in the table itself, so without a stream the jobs and their events are as safe as with one. */
export function checkStream({ TableName, StreamSpecification }: TableDescription): Check {
  const name = 'stream';
  if (StreamSpecification?.StreamEnabled) {
    return { name, status: 'ok', message: `on, ${StreamSpecification.StreamViewType}` };
  }
  const message = 'off, so no Lambda function is called for events; whoever reads the log finds them all the same';
  const setting = `StreamEnabled=true,StreamViewType=${STREAM_VIEW}`;
  const hint = `aws dynamodb update-table --table-name ${TableName} --stream-specification ${setting}`;
  return { name, status: 'ok', message, hint };
}

const keysOf = (schema: readonly KeySchemaElement[] = []): string =>
  schema.map(({ AttributeName }) => AttributeName).join(', ');
