import { CreateQueueCommand, SendMessageCommand, SetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { newJobId, systemClock } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { denied, refusing } from '../testing/denying.ts';
import { examineSqs } from './doctor.ts';
import type { SqsOptions } from './settings.ts';
import { type LocalSqs, useLocalSqs } from './testing/bench.ts';

const local = useLocalSqs();

/** The queue `mails` as the transport makes it. */
async function made(): Promise<LocalSqs> {
  const sqs = local();
  const transport = await sqs.open();
  onTestFinished(() => transport.close());
  const hint = { tenant: '', queue: 'mails', type: 'mail.send', priority: 0, attempt: 0, delayMs: 0 };
  await transport.send([{ ...hint, jobId: newJobId(Date.now()) }]);
  return sqs;
}

async function examine(sqs: LocalSqs, options: SqsOptions = {}, queues = ['mails']) {
  const checks = await examineSqs({ client: sqs.client, prefix: sqs.prefix, ...options }, queues);
  return Object.fromEntries(checks.map((check) => [check.name, check]));
}

const urlOf = ({ server, prefix }: LocalSqs, role = 'default') => server.inspectQueue(`${prefix}-mails-${role}`)!.url;

const set = ({ client }: LocalSqs, QueueUrl: string, Attributes: Record<string, string>) =>
  client.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));

test('healthy queues', async () => {
  const sqs = await made();
  const found = await examine(sqs);
  expect(Object.keys(found)).toEqual(['sqs', 'sqs clock', 'queue mails', 'messages']);
  expect(found['queue mails']).toMatchObject({ status: 'ok', message: 'default 1 waiting, 0 held' });
  expect(found['messages']).toMatchObject({ status: 'ok' });
  // Looking has received nothing.
  expect(sqs.server.inspectQueue(`${sqs.prefix}-mails-default`)!.messages.ready).toHaveLength(1);
});

test('a queue that is not there: made by the first job, or a failure where none is made', async () => {
  const sqs = local();
  const missing = (await examine(sqs))['queue mails'];
  expect(missing).toMatchObject({ status: 'warn', message: expect.stringContaining(`${sqs.prefix}-mails-default`) });
  expect((await examine(sqs, { createQueues: false }))['queue mails']).toMatchObject({ status: 'fail' });
  const given = { mails: { default: `${sqs.server.address}/000000000000/nowhere` } };
  const { 'queue mails': nowhere } = await examine(sqs, { queues: given, createQueues: false });
  expect(nowhere).toMatchObject({ status: 'fail', message: "there is no SQS queue 'nowhere'" });
  expect(sqs.server.inspectQueue(`${sqs.prefix}-mails-default`)).toBeUndefined();
});

test('a queue without redrive, and one that hides too briefly', async () => {
  const sqs = await made();
  await set(sqs, urlOf(sqs), { VisibilityTimeout: '5' });
  expect((await examine(sqs))['queue mails']).toMatchObject({
    ...{ status: 'warn', message: expect.stringContaining('less than 30 s') },
  });
  const plain = `${sqs.prefix}-plain-default`;
  await sqs.client.send(new CreateQueueCommand({ QueueName: plain }));
  expect((await examine(sqs, {}, ['plain']))['queue plain']).toMatchObject({
    ...{ status: 'warn', message: expect.stringContaining('without redrive') },
  });
});

test('messages that nobody deleted, and what tells of the dead', async () => {
  const sqs = await made();
  await sqs.client.send(new SendMessageCommand({ QueueUrl: urlOf(sqs, 'redrive'), MessageBody: 'x' }));
  await sqs.client.send(new CreateQueueCommand({ QueueName: `${sqs.prefix}-mails-dead` }));
  await sqs.client.send(new SendMessageCommand({ QueueUrl: urlOf(sqs, 'dead'), MessageBody: 'x' }));
  expect((await examine(sqs))['queue mails']).toMatchObject({
    status: 'warn',
    message: '1 in its redrive queue; default 1 waiting, 0 held; 1 in its dead queue',
    hint: expect.stringContaining('waybill dead list'),
  });
});

test.each([
  ['SendMessageBatch', 'sqs:SendMessage'],
  ['ReceiveMessage', 'sqs:ReceiveMessage'],
  ['DeleteMessageBatch', 'sqs:DeleteMessage'],
  ['ChangeMessageVisibilityBatch', 'sqs:ChangeMessageVisibility'],
])('%s that is not allowed', async (refused, action) => {
  const sqs = await made();
  // SQS writes it in small letters.
  const told = denied(action.toLowerCase(), 'the-queue');
  const client = refusing(sqs.client, (command) => (command === refused ? told : undefined));
  const { messages } = await examine(sqs, { client });
  expect(messages).toMatchObject({ status: 'fail', message: `not allowed: ${action} on the-queue` });
});

test('attributes that may not be read, and no credentials', async () => {
  const sqs = await made();
  const blind = refusing(sqs.client, (command) =>
    command === 'GetQueueAttributes' ? denied('sqs:getqueueattributes', 'the-queue') : undefined,
  );
  expect((await examine(sqs, { client: blind }))['queue mails']).toMatchObject({
    ...{ status: 'fail', message: 'not allowed: sqs:GetQueueAttributes on the-queue' },
  });
  const nobody = refusing(sqs.client, () => Object.assign(new Error(), { name: 'CredentialsProviderError' }));
  const found = await examine(sqs, { client: nobody });
  expect(Object.keys(found)).toEqual(['sqs', 'sqs clock']);
  expect(found['sqs']).toMatchObject({ status: 'fail', message: 'no credentials were found' });
});

test('a clock that is off', async () => {
  const sqs = local();
  const clock = { ...systemClock, now: () => Date.now() + 3_600_000 };
  const real = await examine(sqs, { clock: { ...systemClock, now: () => performance.timeOrigin + performance.now() } });
  expect(real['sqs clock']).toMatchObject({ status: 'ok' });
  expect((await examine(sqs, { clock }))['sqs clock']).toMatchObject({ status: 'fail' });
});

test('an address that leads nowhere', async () => {
  const client = new SQSClient({
    ...{ endpoint: 'http://127.0.0.1:1', region: 'us-east-1', maxAttempts: 1, useQueueUrlAsEndpoint: false },
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  onTestFinished(() => client.destroy());
  expect(await examineSqs({ client }, ['mails'])).toMatchObject([
    { name: 'sqs', status: 'fail', message: expect.stringContaining('SQS cannot be reached') },
    { name: 'sqs clock', status: 'warn' },
  ]);
});

test('ready: one queue at a time, once in a few seconds; one that is somebody else’s must be there', async () => {
  const sqs = await made();
  let asked = 0;
  const client = refusing(sqs.client, (command) => {
    if (command === 'GetQueueAttributes') asked += 1;
    return undefined;
  });
  const queues = { mails: { default: urlOf(sqs) } };
  const transport = await sqs.open({ client, queues });
  onTestFinished(() => transport.close());
  for (let call = 0; call < 5; call++) await transport.ping!();
  expect(asked).toBe(1);
  sqs.server.deleteQueue(`${sqs.prefix}-mails-default`);
  await sqs.advance(3_000);
  const message = `There is no SQS queue '${sqs.prefix}-mails-default'.`;
  await expect(transport.ping!()).rejects.toMatchObject({ code: 'unavailable', message });
});

test('ready: queues that the transport makes itself may be missing', async () => {
  const transport = await local().open();
  onTestFinished(() => transport.close());
  await transport.ping!();
});
