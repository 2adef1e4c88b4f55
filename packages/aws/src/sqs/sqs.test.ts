import { GetQueueAttributesCommand, PurgeQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { type Hint, newJobId } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import type { Client } from './sdk.ts';
import type { SqsOptions } from './settings.ts';
import { type LocalSqs, useLocalSqs } from './testing/bench.ts';

const local = useLocalSqs();

const hint = (overrides: Partial<Hint> = {}): Hint => ({
  ...{ tenant: '', jobId: newJobId(Date.now()), queue: 'mails', type: 'mail.send', priority: 0, attempt: 0 },
  ...{ delayMs: 0, ...overrides },
});

const ask = (overrides: { queues?: string[]; max?: number; waitMs?: number } = {}) => ({
  ...{ tenant: '', queues: ['mails'], max: 10, waitMs: 0, ...overrides },
  claim: { claimId: 'claim-0001', workerId: 'worker-1', leaseMs: 30_000 },
});

async function open(sqs: LocalSqs, options?: SqsOptions) {
  const transport = await sqs.open(options);
  onTestFinished(() => transport.close());
  const receive = async (overrides?: Parameters<typeof ask>[0]) => {
    const received = await transport.receive(ask(overrides));
    if (received.kind !== 'hints') throw new Error('Expected hints.');
    return received.deliveries;
  };
  return { transport, receive };
}

const queueOf = ({ server, prefix }: LocalSqs, role: string) => server.inspectQueue(`${prefix}-mails-${role}`);

/** The same client, with a record of what is asked of it. */
function counting(client: Client): { client: Client; calls: () => Record<string, number> } {
  const counts: Record<string, number> = {};
  const send = (...args: Parameters<Client['send']>) => {
    const name = args[0].constructor.name.replace('Command', '');
    counts[name] = (counts[name] ?? 0) + 1;
    return client.send(...args);
  };
  return { client: { send } as Client, calls: () => counts };
}

test('a message names its row and tells people what it is about', async () => {
  const sqs = local();
  const { transport } = await open(sqs);
  const sent = hint({ priority: 7, attempt: 2, requestId: 'order-17', traceparent: '00-abc-def-01' });
  await transport.send([sent]);
  const [message] = queueOf(sqs, 'high')!.messages.ready;
  expect(JSON.parse(message!.body)).toEqual({ job_id: sent.jobId, queue: 'mails', attempt: 2 });
  expect(message!.messageAttributes).toMatchObject({
    JobType: { StringValue: 'mail.send' },
    Priority: { StringValue: '7' },
    requestId: { StringValue: 'order-17' },
    traceparent: { StringValue: '00-abc-def-01' },
  });
});

test('what a producer wrote into a job cannot keep other hints from being sent', async () => {
  const sqs = local();
  const { transport, receive } = await open(sqs);
  const strange = hint({ requestId: 'a\u0000b', traceparent: '' });
  const plain = hint();
  await transport.send([strange, plain]);
  expect((await receive()).map(({ jobId }) => jobId).sort()).toEqual([strange.jobId, plain.jobId].sort());
});

test('queues are made encrypted, with a redrive queue after three receives', async () => {
  const sqs = local();
  const { transport } = await open(sqs);
  await transport.send([hint()]);
  const { url, attributes } = queueOf(sqs, 'default')!;
  const answer = await sqs.client.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }));
  expect(answer.Attributes).toMatchObject({ SqsManagedSseEnabled: 'true', ReceiveMessageWaitTimeSeconds: '20' });
  const policy = JSON.parse(attributes['RedrivePolicy']!);
  expect(policy).toEqual({ deadLetterTargetArn: queueOf(sqs, 'redrive')!.arn, maxReceiveCount: 3 });
});

test('ten of anything go in one request', async () => {
  const sqs = local();
  const { client, calls } = counting(sqs.client);
  const { transport, receive } = await open(sqs, { client });
  await Promise.all(Array.from({ length: 50 }, () => transport.send([hint()])));
  const deliveries = await receive({ max: 50 });
  expect(deliveries).toHaveLength(50);
  await Promise.all(deliveries.map((delivery) => transport.extend(delivery, 60_000)));
  await Promise.all(deliveries.map((delivery) => transport.ack(delivery)));
  expect(calls()).toMatchObject({
    ...{ SendMessageBatch: 5, ReceiveMessage: 5, ChangeMessageVisibilityBatch: 5, DeleteMessageBatch: 5 },
  });
});

test('an idle worker asks once in twenty seconds', async () => {
  const sqs = local();
  const { client, calls } = counting(sqs.client);
  const { transport, receive } = await open(sqs, { client });
  const abort = new AbortController();
  const waiting = transport.receive({ ...ask({ waitMs: 20_000 }), signal: abort.signal });
  const again = receive({ waitMs: 20_000 });
  await sqs.clock.whenSleeping(2);
  abort.abort();
  await transport.send([hint()]);
  expect([await waiting, await again]).toMatchObject([{ deliveries: [] }, [{ queue: 'mails' }]]);
  // One look at the redrive queue, and one long poll for both.
  expect(calls()['ReceiveMessage']).toBe(2);
});

test('what comes for somebody who has left is given back', async () => {
  const sqs = local();
  const { transport, receive } = await open(sqs);
  const abort = new AbortController();
  const waiting = transport.receive({ ...ask({ waitMs: 20_000 }), signal: abort.signal });
  await sqs.clock.whenSleeping(1);
  abort.abort();
  await waiting;
  await transport.send([hint()]);
  expect(await receive({ waitMs: 20_000 })).toHaveLength(1);
});

test('poison is counted and removed', async () => {
  const sqs = local();
  const { transport, receive } = await open(sqs);
  await transport.send([hint()]);
  const { jobId } = hint();
  const bodies = [
    'no json',
    '{"job_id":"no id"}',
    '[]',
    'null',
    JSON.stringify({ job_id: jobId, queue: 'other', attempt: 0 }),
    JSON.stringify({ job_id: jobId, queue: 'mails', attempt: 0, tenant: 'somebody' }),
  ];
  for (const body of bodies) sqs.server.sendMessage(`${sqs.prefix}-mails-default`, body);
  expect(await receive()).toHaveLength(1);
  expect(transport.poisoned).toBe(bodies.length);
  await sqs.advance(3_600_000);
  expect(await receive()).toHaveLength(1);
  expect(transport.poisoned).toBe(bodies.length);
});

test('a hint that nobody deletes in three receives comes back through the redrive queue', async () => {
  const sqs = local();
  const { transport, receive } = await open(sqs);
  const sent = hint();
  await transport.send([sent]);
  for (let times = 0; times < 3; times++) {
    expect(await receive()).toHaveLength(1);
    await sqs.advance(31_000);
  }
  // The receive that moves it away finds it again at once, or the next one does.
  const found = [...(await receive()), ...(await sqs.advance(61_000).then(() => receive()))];
  expect(found.map(({ jobId, queue }) => ({ jobId, queue }))).toEqual([{ jobId: sent.jobId, queue: 'mails' }]);
  await transport.ack(found[0]!);
  expect(queueOf(sqs, 'redrive')!.messages).toMatchObject({ ready: [], inflight: [] });
});

test('hints that shall wait longer than SQS can are left to their rows', async () => {
  const sqs = local();
  const { transport } = await open(sqs);
  await transport.send([hint({ delayMs: 900_001 }), hint({ delayMs: 900_000 })]);
  expect(queueOf(sqs, 'default')!.messages.delayed).toHaveLength(1);
  expect(await transport.depth!('', 'mails')).toBe(1);
});

test('queues given by address are used and never made', async () => {
  const sqs = local();
  const { queueUrl } = sqs.server.createQueue(`${sqs.prefix}-their-own`);
  const { transport, receive } = await open(sqs, { queues: { mails: { default: queueUrl } }, createQueues: false });
  await transport.send([hint({ priority: 5 }), hint({ priority: -5 })]);
  expect(await receive()).toHaveLength(2);
  expect(queueOf(sqs, 'high')).toBeUndefined();
  await expect(transport.send([hint({ queue: 'other' })])).rejects.toMatchObject({ code: 'invalid_request' });
});

test('a queue without an SQS queue is refused where none is made, and is known soon after it was made', async () => {
  const sqs = local();
  const { transport } = await open(sqs, { createQueues: false });
  const check = async () => transport.checkQueue!('', 'mails');
  const name = `${sqs.prefix}-mails-default`;
  const refused = { code: 'invalid_request', details: { field: 'queue', queue: 'mails', sqs_queue: name } };
  await expect(check()).rejects.toMatchObject(refused);
  sqs.server.createQueue(name);
  await sqs.advance(60_000);
  await check();
  // From then on without a call, and in the same turn.
  expect(transport.checkQueue!('', 'mails')).toBeUndefined();
  expect((await open(sqs)).transport.checkQueue).toBeUndefined();
});

test('closing waits for hints that are on their way', async () => {
  const sqs = local();
  const transport = await sqs.open();
  const sent = transport.send([hint()]);
  await transport.close();
  expect(queueOf(sqs, 'default')!.messages.ready).toHaveLength(1);
  await sent;
});

test('a queue that was deleted is made again by the next hint', async () => {
  const sqs = local();
  const { transport, receive } = await open(sqs);
  await transport.send([hint()]);
  sqs.server.deleteQueue(`${sqs.prefix}-mails-default`);
  expect(await receive()).toEqual([]);
  await transport.send([hint()]);
  sqs.server.deleteQueue(`${sqs.prefix}-mails-default`);
  await transport.send([hint()]);
  expect(await receive()).toHaveLength(1);
});

test('whoever settles may be another process than the one that received', async () => {
  const sqs = local();
  const [one, two] = [await open(sqs), await open(sqs)];
  await one.transport.send([hint()]);
  const [delivery] = await one.receive();
  await two.transport.ack({ ...delivery!, queue: '' });
  await sqs.advance(3_600_000);
  expect(await one.receive()).toEqual([]);
  await sqs.client.send(new PurgeQueueCommand({ QueueUrl: queueOf(sqs, 'default')!.url }));
  await two.transport.ack(delivery!);
});

test('adopted messages bring the job that they shall become; all else is still poison', async () => {
  const sqs = local();
  const { transport, receive } = await open(sqs, { adopt: { mails: true } });
  await transport.send([hint()]);
  const { url: QueueUrl } = queueOf(sqs, 'default')!;
  const body = { session_id: 's-1', documents: [{ s3_key: 'a/b.pdf' }] };
  const text = (StringValue: string) => ({ DataType: 'String', StringValue });
  const MessageAttributes = { JobType: text('document.ingest'), requestId: text('req_1'), Priority: text('high') };
  await sqs.client.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(body), MessageAttributes }));
  await sqs.client.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify({ no: 'type' }) }));
  const adopted = (await receive()).find(({ adopt }) => adopt);
  expect(adopted).toMatchObject({
    jobId: 'req_1',
    adopt: { type: 'document.ingest', args: [body], options: { queue: 'mails', priority: 10 } },
  });
  expect(transport.poisoned).toBe(1);
});

test('a foreign message is read with the id that SQS gave it, also where its body is no JSON', async () => {
  const sqs = local();
  const read: unknown[] = [];
  const { transport, receive } = await open(sqs, {
    adopt: {
      mails: (...given) => {
        read.push(given);
        return null;
      },
    },
  });
  await transport.send([hint()]);
  const QueueUrl = queueOf(sqs, 'default')!.url;
  const { MessageId } = await sqs.client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'no json' }));
  await receive();
  expect(read).toEqual([[undefined, {}, MessageId]]);
});

test('one receive asks for no more messages than it shall', async () => {
  const sqs = local();
  const { transport, receive } = await open(sqs, { messagesPerReceive: 2 });
  await transport.send(Array.from({ length: 5 }, () => hint()));
  const { client, calls } = counting(sqs.client);
  const other = await open(sqs, { messagesPerReceive: 2, client });
  expect(await other.receive({ max: 4 })).toHaveLength(4);
  expect(calls()['ReceiveMessage']).toBe(2);
  expect(await receive({ max: 10 })).toHaveLength(1);
  for (const messagesPerReceive of [0, 11, 1.5])
    await expect(sqs.open({ messagesPerReceive })).rejects.toThrow(
      "'messagesPerReceive' must be an integer from 1 to 10.",
    );
});

test('queues given by address may be those of a tenant', async () => {
  const sqs = local();
  const { queueUrl } = sqs.server.createQueue(`${sqs.prefix}-of-acme`);
  const options = { queues: { mails: { default: queueUrl } }, queuesTenant: 'acme', createQueues: false };
  const { transport } = await open(sqs, options);
  const sent = hint({ tenant: 'acme' });
  await transport.send([sent]);
  const received = await transport.receive({ ...ask(), tenant: 'acme' });
  expect(received).toMatchObject({ deliveries: [{ tenant: 'acme', jobId: sent.jobId }] });
  await expect(transport.send([hint()])).rejects.toMatchObject({ code: 'invalid_request' });
});
