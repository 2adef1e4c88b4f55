import { CreateTableCommand, UpdateTableCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { systemClock } from '@waybill/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { denied, refusing } from '../testing/denying.ts';
import { localClient } from '../testing/local-dynamo.ts';
import { examineDynamo, hasTable } from './doctor.ts';
import type { DynamoOptions } from './settings.ts';
import { dynamoStore } from './store.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';

const named = (error: string, message = error): Error => Object.assign(new Error(message), { name: error });

describe.skipIf(!canRun)('what doctor finds in DynamoDB (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  /** A table as the store makes it. */
  async function table(): Promise<string> {
    const name = local.newTable();
    onTestFinished((await local.open({ table: name })).close);
    return name;
  }

  async function examine(
    options: Partial<DynamoOptions> & { table: string },
    more?: Parameters<typeof examineDynamo>[1],
  ) {
    const checks = await examineDynamo({ client: local.client(), ...options }, more);
    return Object.fromEntries(checks.map((check) => [check.name, check]));
  }

  it('a healthy table', async () => {
    const checks = await examineDynamo({ client: local.client(), table: await table() });
    expect(checks.filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(checks.map(({ name }) => name)).toEqual(['table', 'indexes', 'expiry', 'stream', 'permissions', 'clock']);
    expect(checks[0]!.message).toContain('is active, paid per request');
  });

  it('no table: what to do, and looking makes none', async () => {
    const name = local.newTable();
    const { table: found, clock } = await examine({ table: name });
    expect(found).toMatchObject({
      status: 'fail',
      message: `there is no table '${name}'`,
      hint: expect.stringContaining('waybill migrate'),
    });
    expect(clock).toMatchObject({ status: 'ok' });
    expect(await hasTable({ client: local.client(), table: name })).toBe(false);
    const opened = dynamoStore({ client: local.client(), table: name, createTable: false });
    await expect(opened).rejects.toMatchObject({
      code: 'unavailable',
      hint: expect.stringContaining('waybill migrate'),
    });
  });

  it('a table of something else', async () => {
    const TableName = local.newTable();
    await local.client().send(
      new CreateTableCommand({
        ...{ TableName, BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }] },
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      }),
    );
    const found = await examine({ table: TableName });
    expect(found['table']).toMatchObject({ status: 'fail', message: expect.stringContaining('are id instead of') });
    expect(found['indexes']).toMatchObject({ status: 'fail', message: expect.stringContaining("'due' is missing") });
    expect(found).not.toHaveProperty('permissions');
  });

  it('a missing index matters where jobs are found by it', async () => {
    const name = await table();
    const gone = { Delete: { IndexName: 'ready' } };
    await local.client().send(new UpdateTableCommand({ TableName: name, GlobalSecondaryIndexUpdates: [gone] }));
    const missing = async (ready: 'index' | 'none', polls: boolean) =>
      (await examine({ table: name, ready }, { polls }))['indexes']!;
    // It takes a moment to go.
    const gave = expect.poll(() => missing('index', true), { timeout: 30_000 });
    await gave.toMatchObject({ status: 'fail', message: "'ready' is missing" });
    expect(await missing('none', false)).toMatchObject({ status: 'ok', message: 'list, due are active' });
    expect(await missing('none', true)).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('ready=none'),
    });
  });

  it('expiry and a stream that are off', async () => {
    const name = await table();
    expect((await examine({ table: name }))['stream']).toEqual({
      ...{ name: 'stream', status: 'ok', message: 'on, NEW_IMAGE' },
    });
    const TimeToLiveSpecification = { AttributeName: 'x', Enabled: false };
    await local.client().send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
    const StreamSpecification = { StreamEnabled: false };
    await local.client().send(new UpdateTableCommand({ TableName: name, StreamSpecification }));
    const { expiry, stream } = await examine({ table: name });
    expect(expiry).toMatchObject({ status: 'warn', hint: expect.stringContaining(`--table-name ${name}`) });
    expect(stream).toEqual({
      ...{ name: 'stream', status: 'ok' },
      message: 'off, so no Lambda function is called for events; whoever reads the log finds them all the same',
      hint: `aws dynamodb update-table --table-name ${name} --stream-specification StreamEnabled=true,StreamViewType=NEW_IMAGE`,
    });
  });

  it.each([
    ['GetItem', 'dynamodb:GetItem'],
    ['BatchGetItem', 'dynamodb:BatchGetItem'],
    ['PutItem', 'dynamodb:PutItem'],
    ['UpdateItem', 'dynamodb:UpdateItem'],
    ['DeleteItem', 'dynamodb:DeleteItem'],
    ['TransactWriteItems', 'dynamodb:ConditionCheckItem'],
  ])('%s that is not allowed', async (refused, action) => {
    const name = await table();
    const arn = `arn:aws:dynamodb:eu-west-1:123456789012:table/${name}`;
    const client = refusing(local.client(), (command) => (command === refused ? denied(action, arn) : undefined));
    const { permissions } = await examine({ table: name, client });
    expect(permissions).toMatchObject({ status: 'fail', message: `not allowed: ${action} on ${arn}` });
  });

  it('an index that may not be queried, and a table that may not be described', async () => {
    const name = await table();
    const onIndex = refusing(local.client(), (command, { IndexName }) =>
      command === 'Query' && IndexName === 'due' ? denied('dynamodb:Query', 'the-index') : undefined,
    );
    const { permissions } = await examine({ table: name, client: onIndex });
    expect(permissions).toMatchObject({ status: 'fail', message: 'not allowed: dynamodb:Query on the-index' });
    const onTable = refusing(local.client(), () => denied('dynamodb:DescribeTable', 'the-table'));
    const { table: found } = await examine({ table: name, client: onTable });
    expect(found).toMatchObject({ status: 'fail', message: 'not allowed: dynamodb:DescribeTable on the-table' });
  });

  it.each([
    [named('CredentialsProviderError'), 'no credentials were found'],
    [named('UnrecognizedClientException'), 'DynamoDB does not know these credentials'],
    [named('ExpiredTokenException'), 'the credentials have expired'],
    [
      named('InvalidSignatureException', 'Signature expired: 2026..'),
      'DynamoDB takes the clock of this machine for wrong',
    ],
    [named('Error', 'Region is missing'), 'no region is named'],
  ])('%s', async (error, message) => {
    const { table: found } = await examine({ table: 'any', client: refusing(local.client(), () => error) });
    expect(found).toMatchObject({ status: 'fail', message, hint: expect.any(String) });
  });

  it.each([
    [40_000, 'warn', '40 s ahead of AWS'],
    [-40_000, 'warn', '40 s behind AWS'],
    [300_000, 'fail', '300 s ahead of AWS'],
  ])('a clock that is off by %i ms', async (offMs, status, message) => {
    const clock = { ...systemClock, now: () => Math.floor(Date.now() / 1000) * 1000 + offMs };
    const { clock: found } = await examine({ table: await table(), clock });
    expect(found!.status).toBe(status);
    // The date of an answer has no milliseconds, and the answer may be a second old.
    expect(Number.parseInt(found!.message, 10)).toBeCloseTo(Number.parseInt(message, 10), -1);
    expect(found!.message.replace(/^\d+/, '')).toBe(message.replace(/^\d+/, ''));
  });

  it('ready: asks once in a few seconds, and tells what is wrong', async () => {
    let asked = 0;
    let isDenied = false;
    const client = refusing(local.client(), (command) => {
      if (command === 'GetItem') asked += 1;
      return isDenied && command === 'GetItem' ? denied('dynamodb:GetItem', 'the-table') : undefined;
    });
    const { store, clock, close } = await local.open({ client });
    for (let call = 0; call < 5; call++) await store.ping();
    expect(asked).toBe(1);
    isDenied = true;
    await clock.advance(3_000);
    const message = 'DynamoDB: not allowed: dynamodb:GetItem on the-table.';
    await expect(store.ping()).rejects.toMatchObject({ code: 'unavailable', message });
    isDenied = false;
    await close();
    await clock.advance(3_000);
    await expect(store.ping()).rejects.toMatchObject({ message: expect.stringContaining('does not exist') });
  });
});

it('an address that leads nowhere', async () => {
  const checks = await examineDynamo({ table: 'any', client: localClient('http://127.0.0.1:1') });
  expect(checks).toMatchObject([
    { name: 'table', status: 'fail', message: expect.stringContaining('DynamoDB cannot be reached') },
    { name: 'clock', status: 'warn' },
  ]);
});
