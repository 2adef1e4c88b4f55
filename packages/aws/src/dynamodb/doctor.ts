import type { Check } from '../doctor/check.ts';
import { type Asked, failed } from '../doctor/faults.ts';
import { ServerClock } from '../doctor/server-clock.ts';
import { checkPermissions } from './doctor/permissions.ts';
import { checkExpiry, checkIndexes, checkStream, checkTable } from './doctor/table.ts';
import { openClient } from './open-client.ts';
import { type DynamoOptions, settingsOf } from './settings.ts';
import { statusOf } from './table.ts';

/** How jobs are found: by the `ready` index, or only by the messages that name them. */
export interface ExamineOptions {
  /** @defaultValue true */
  polls?: boolean;
}

/** Looks for what could go wrong with a DynamoDB store, from the ground up, and changes nothing. */
export async function examineDynamo(options: DynamoOptions, { polls = true }: ExamineOptions = {}): Promise<Check[]> {
  const settings = settingsOf(options);
  const { sdk, client, close } = await openClient(options);
  const TableName = settings.table;
  const serverClock = new ServerClock(settings.clock);
  const asking = (action: string): Asked => ({
    ...{ service: 'DynamoDB', action: `dynamodb:${action}`, resource: `table/${TableName}` },
  });
  try {
    const { Table } = await client.send(serverClock.watch(new sdk.DescribeTableCommand({ TableName })));
    const table = checkTable(Table!);
    const checks = [table, checkIndexes(Table!, settings, polls)];
    checks.push(
      await checkExpiry(sdk, client, TableName).catch((error: unknown) =>
        failed('expiry', 'warn', error, asking('DescribeTimeToLive')),
      ),
      checkStream(Table!),
    );
    if (table.status === 'ok') checks.push(await checkPermissions(sdk, client, Table!));
    return [...checks, serverClock.check()];
  } catch (error) {
    return [unseen(error, TableName, asking('DescribeTable')), serverClock.check()];
  } finally {
    close();
  }
}

/** Whether the table is there. Changes nothing. */
export async function hasTable(options: DynamoOptions): Promise<boolean> {
  const { sdk, client, close } = await openClient(options);
  try {
    return (await statusOf(sdk, client, settingsOf(options))) !== null;
  } finally {
    close();
  }
}

function unseen(error: unknown, table: string, asked: Asked): Check {
  if ((error as Error).name !== 'ResourceNotFoundException') return failed('table', 'fail', error, asked);
  const hint = '`waybill migrate` makes it. Is it another region or account?';
  return { name: 'table', status: 'fail', message: `there is no table '${table}'`, hint };
}
