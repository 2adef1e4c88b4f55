import { networkInterfaces } from 'node:os';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamoStore } from '../dynamodb/store.ts';
import { hasJava } from '../testing/local-dynamo.ts';
import { type Cloud, startCloud } from './cloud.ts';

/** Skipped only where Java is missing, and that nobody accepts in CI. */
const canRun = hasJava || process.env['CI'] === 'true';

describe.skipIf(!canRun)('the local cloud (skipped: needs Java 17)', () => {
  let cloud: Cloud;
  beforeAll(async () => {
    cloud = await startCloud();
  }, 90_000);
  afterAll(() => cloud.stop());

  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

  /** As the SDK speaks to EventBridge. */
  const events = async (operation: string, call: unknown): Promise<unknown> => {
    const headers = { 'x-amz-target': `AWSEvents.${operation}`, 'content-type': 'application/x-amz-json-1.1' };
    const response = await fetch(cloud.endpoints.events, { method: 'POST', headers, body: JSON.stringify(call) });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };

  it('answers at the addresses that it tells', async () => {
    const { dynamodb, sqs } = cloud.endpoints;
    const [tables, queues] = [
      new DynamoDBClient({ endpoint: dynamodb, region: 'us-east-1', credentials }),
      new SQSClient({ endpoint: sqs, region: 'us-east-1', credentials, useQueueUrlAsEndpoint: false }),
    ];
    expect(await tables.send(new ListTablesCommand({}))).toMatchObject({ TableNames: [] });
    const { QueueUrl } = await queues.send(new CreateQueueCommand({ QueueName: 'one' }));
    expect(QueueUrl).toMatch(/\/one$/);
    const bucket = await fetch(`${cloud.endpoints.s3}/a-bucket`, { method: 'PUT' });
    expect(bucket.status).toBe(200);
    tables.destroy();
    queues.destroy();
  });

  const [outside] = Object.values(networkInterfaces()).flatMap((all = []) => all.filter((one) => !one.internal));

  it.skipIf(outside === undefined)('B10: nothing of it is reached or seen over another interface', async () => {
    const from = (endpoint: string) => {
      const { port } = new URL(endpoint);
      return `http://${outside!.family === 'IPv6' ? `[${outside!.address}]` : outside!.address}:${port}`;
    };
    const tablesOf = async (endpoint: string, accessKeyId: string) => {
      const client = new DynamoDBClient({
        endpoint,
        region: 'us-east-1',
        credentials: { ...credentials, accessKeyId },
      });
      const store = await dynamoStore({ table: 'secrets', client, createTable: accessKeyId === mine }).catch(
        () => null,
      );
      await store?.close();
      const { TableNames } = await client.send(new ListTablesCommand({}));
      client.destroy();
      return TableNames;
    };
    const mine = cloud.env['AWS_ACCESS_KEY_ID']!;
    expect(await tablesOf(cloud.endpoints.dynamodb, mine)).toEqual(['secrets']);
    expect(await tablesOf(from(cloud.endpoints.dynamodb), 'local')).toEqual([]);
    for (const endpoint of [cloud.endpoints.sqs, cloud.endpoints.events]) {
      await expect(fetch(from(endpoint))).rejects.toThrow('fetch failed');
      await expect(fetch(endpoint)).resolves.toBeDefined();
    }
  });

  it('tells an environment, one value a name', () => {
    expect(cloud.env).toMatchObject({
      WAYBILL_STORE: `dynamodb://us-east-1/waybill?endpoint=${cloud.endpoints.dynamodb}`,
      WAYBILL_TRANSPORT: `sqs://us-east-1/waybill?endpoint=${cloud.endpoints.sqs}`,
      WAYBILL_BLOBS: `s3://waybill?region=us-east-1&endpoint=${cloud.endpoints.s3}`,
      AWS_REGION: 'us-east-1',
    });
    for (const value of Object.values(cloud.env)) expect(value).toMatch(/^\S+$/);
  });

  it('brings events to the queues of the rules that they fit', async () => {
    const queues = new SQSClient({
      ...{ endpoint: cloud.endpoints.sqs, region: 'us-east-1', credentials, useQueueUrlAsEndpoint: false },
    });
    const { QueueUrl } = await queues.send(new CreateQueueCommand({ QueueName: 'done' }));
    const { Attributes } = await queues.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }));
    queues.destroy();
    await events('PutRule', { Name: 'done', EventPattern: JSON.stringify({ 'detail-type': ['job.completed'] }) });
    await events('PutTargets', { Rule: 'done', Targets: [{ Id: '1', Arn: Attributes!['QueueArn'] }] });
    const entry = (DetailType: string) => ({ Source: 'waybill', DetailType, Detail: '{"job_id":"1"}' });
    const answer = await events('PutEvents', { Entries: [entry('job.completed'), entry('job.failed')] });
    expect(answer).toMatchObject({ FailedEntryCount: 0, Entries: [{}, {}] });
    const got = cloud.sqs.inspectQueue('done')!.messages.ready.map(({ body }) => JSON.parse(body) as unknown);
    expect(got).toMatchObject([{ 'detail-type': 'job.completed', source: 'waybill', detail: { job_id: '1' } }]);
    expect(cloud.events).toHaveLength(2);
    await expect(events('PutTargets', { Rule: 'none', Targets: [{ Id: '1', Arn: 'a' }] })).rejects.toThrow('no rule');
  });
});
