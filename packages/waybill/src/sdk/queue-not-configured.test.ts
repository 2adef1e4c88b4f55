import { SQSClient } from '@aws-sdk/client-sqs';
import { sqsTransport } from '@waybill/aws/sqs';
import { engine, silentLogger, type Waybill } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { createApp, serve } from '@waybill/server';
import { startFauxqs } from 'fauxqs';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from './connect.ts';

/** A server over SQS where only the queue `mails` is configured, and which makes no others. */
async function server() {
  const sqs = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false });
  const client = new SQSClient({
    ...{ endpoint: sqs.address, useQueueUrlAsEndpoint: false, region: 'us-east-1' },
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const { queueUrl } = sqs.createQueue('their-mails');
  const transport = await sqsTransport({
    ...{ client, queues: { mails: { default: queueUrl } }, createQueues: false, logger: silentLogger },
  });
  const waybill = engine({ store: memoryStore(), transport, logger: silentLogger });
  const app = createApp({ waybill, version: 'test', logger: silentLogger });
  const listening = await serve(app, { port: 0, grpcPort: 0, graceMs: 1_000 });
  onTestFinished(async () => {
    await listening.close();
    await waybill.close();
    client.destroy();
    await sqs.stop();
  });
  const call = async (method: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${listening.url}/waybill.v1.${method}`, init);
    return (await answer.json()) as { code?: string; message?: string; job?: { jobId: string } };
  };
  return { waybill, sqs, client, call, grpcUrl: listening.grpcUrl! };
}

const refused = {
  code: 'invalid_request',
  details: { field: 'queue', queue: 'other', sqs_queue: 'waybill-other-default' },
};
const job = (queue: string) => ({ type: 'mail.send', args: [], options: { queue } });

test('a job for a queue that is not configured is InvalidArgument over RPC, and nothing is stored', async () => {
  const { waybill, call, grpcUrl } = await server();
  expect(await call('JobService/EnqueueJob', { type: 'mail.send', args: [], queue: 'other' })).toMatchObject({
    ...{ code: 'invalid_argument', message: expect.stringContaining("The queue 'other' is not configured") },
  });
  const jobs = [
    { type: 'mail.send', args: [], queue: 'mails' },
    { type: 'mail.send', args: [], queue: 'other' },
  ];
  expect(await call('JobService/EnqueueJobs', { jobs })).toMatchObject({ code: 'invalid_argument' });
  expect(await call('WorkerService/Claim', { queues: ['other'] })).toMatchObject({ code: 'invalid_argument' });
  const client = await connect(grpcUrl, { logger: silentLogger });
  onTestFinished(() => client.close());
  await expect(client.jobs.enqueue(job('other'))).rejects.toMatchObject(refused);
  expect((await waybill.jobs.list()).items).toEqual([]);
  expect(
    (await call('JobService/EnqueueJob', { type: 'mail.send', args: [], queue: 'mails' })).job?.jobId,
  ).toBeDefined();
});

test.each<[string, (waybill: Waybill) => Promise<unknown>]>([
  ['a workflow', ({ workflows }) => workflows.create({ type: 'chain', steps: [job('mails'), job('other')] })],
  ['a cron', ({ crons }) => crons.put({ name: 'nightly', expression: '0 0 * * *', job_template: job('other') })],
])('%s that names such a queue is refused as well', async (_, make) => {
  const { waybill } = await server();
  await expect(make(waybill)).rejects.toMatchObject(refused);
  expect((await waybill.jobs.list()).items).toEqual([]);
});

// fault: SQS has ended
test('an SQS that does not answer keeps no job from being stored', async () => {
  const { waybill, client } = await server();
  client.send = () => Promise.reject(new Error('SQS is away'));
  const { job: stored } = await waybill.jobs.enqueue(job('other'));
  expect(await waybill.jobs.get(stored.id)).toMatchObject({ state: 'available' });
});
