import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { type BlobOptions, engine, type Json, silentLogger } from '@waybill/core';
import { faultyStore, memoryStore, temporaryBlobs } from '@waybill/core/testing';
import { type AnyTask, task, Worker } from '@waybill/worker';
import type { Context, SQSEvent, SQSHandler, SQSRecord } from 'aws-lambda';
import { expect, onTestFinished, test } from 'vitest';
import { useLocalSqs } from '../sqs/testing/bench.ts';
import { type WorkerHandlerOptions, workerHandler } from './worker-handler.ts';

const local = useLocalSqs();
const TIMEOUT_MS = 60_000;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A function at the queue `mails`, and a producer beside it. */
async function open(
  tasks: AnyTask[],
  {
    concurrency = 10,
    blobs,
    ...options
  }: Partial<WorkerHandlerOptions> & { concurrency?: number; blobs?: BlobOptions } = {},
) {
  const sqs = local();
  const { clock } = sqs;
  const faults: Parameters<typeof faultyStore>[1][number][] = [];
  const store = faultyStore(memoryStore({ clock }), faults);
  const transport = await sqs.open();
  const parts = { store, transport, ...(blobs && { blobs }) };
  const producer = engine({ ...parts, logger: silentLogger });
  onTestFinished(() => producer.close());
  const handler = workerHandler({
    logger: silentLogger,
    open: async () => parts,
    worker: (jobs) => new Worker({ jobs, tasks, queues: ['mails'], clock, concurrency, logger: silentLogger }),
    ...options,
  });
  const end = () => clock.now() + TIMEOUT_MS;
  const contextUntil = (deadline: number): Context =>
    ({ getRemainingTimeInMillis: () => deadline - clock.now() }) as Context;
  const messages = () => sqs.server.inspectQueue(`${sqs.prefix}-mails-default`)?.messages.ready ?? [];
  const enqueue = async (type: string, options: Record<string, unknown> = {}, input: Json = {}) => {
    const before = messages().length;
    const { job } = await producer.jobs.enqueue({ type, args: [input], options: { queue: 'mails', ...options } });
    while (messages().length === before) await turn();
    return job.id;
  };
  /** The messages that wait, as Lambda hands them over; it has received them, so they are gone for others. */
  const event = (): SQSEvent => ({
    Records: messages().map(({ messageId, body }) => recordOf(messageId, body, sqs.prefix)),
  });
  const invoke = (given = event()) => handler(given, contextUntil(end()));
  return { sqs, clock, store, producer, faults, handler, enqueue, event, invoke, messages };
}

const recordOf = (messageId: string, body: string, prefix: string): SQSRecord => ({
  ...{ messageId, body, receiptHandle: `receipt-${messageId}`, md5OfBody: '', awsRegion: 'us-east-1' },
  ...{
    messageAttributes: {},
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:us-east-1:0:${prefix}-mails-default`,
  },
  attributes: { ApproximateReceiveCount: '1', SentTimestamp: '', SenderId: '', ApproximateFirstReceiveTimestamp: '' },
});

const send = task('mail.send', { run: async () => ({ sent: true }) });

test('it is a handler of SQS events', () => {
  const handler: SQSHandler = workerHandler({
    ...{ open: () => Promise.reject(new Error('unused')), worker: () => ({ start: () => {}, stop: async () => {} }) },
  });
  expect(handler).toBeTypeOf('function');
});

test('large payloads come from the blob store and go there', async () => {
  const { blobs: store, folder, remove } = await temporaryBlobs();
  onTestFinished(remove);
  const echo = task('mail.echo', { run: async (input: { text: string }) => input });
  const { enqueue, invoke, producer } = await open([echo], { blobs: { store, threshold: 64 } });
  const input = { text: 'large '.repeat(50) };
  const id = await enqueue('mail.echo', {}, input);
  expect(await invoke()).toEqual({ batchItemFailures: [] });
  expect(await producer.jobs.get(id)).toMatchObject({ state: 'completed', spec: { args: [input] }, result: input });
  expect(await readdir(join(folder, 'jobs', id))).toEqual([
    expect.stringMatching(/^args-/),
    expect.stringMatching(/^result-/),
  ]);
});

test('runs and settles the jobs that the messages name', async () => {
  const { enqueue, invoke, producer } = await open([send]);
  const ids = [await enqueue('mail.send'), await enqueue('mail.send')];
  expect(await invoke()).toEqual({ batchItemFailures: [] });
  const jobs = await Promise.all(ids.map((id) => producer.jobs.get(id)));
  expect(jobs).toMatchObject([
    { state: 'completed', result: { sent: true } },
    { state: 'completed', result: { sent: true } },
  ]);
});

// fault: messages come twice, late or unreadable
test('guarantee 5: doubled, late and useless messages are dropped', async () => {
  let runs = 0;
  const run = async () => {
    runs += 1;
  };
  const { enqueue, event, invoke } = await open([task('mail.send', { run })]);
  await enqueue('mail.send');
  const [record] = event().Records;
  const doubled = { Records: [record!, { ...record!, messageId: 'again', receiptHandle: 'again' }] };
  expect(await invoke(doubled)).toEqual({ batchItemFailures: [] });
  expect(await invoke({ Records: [record!, { ...record!, messageId: 'poison', body: 'poison' }] })).toEqual({
    batchItemFailures: [],
  });
  expect(runs).toBe(1);
});

test('runs nothing but what its messages name, also when these turn out to be useless', async () => {
  const { enqueue, event, invoke, producer, store } = await open([send]);
  const cancelled = await enqueue('mail.send');
  const [record] = event().Records;
  const waiting = await enqueue('mail.send');
  await producer.jobs.cancel(cancelled);
  // The function goes on after the useless message, since another tenant's is in the batch.
  const request = { type: 'mail.send', args: [{}], options: { queue: 'mails' } };
  const { job } = await producer.jobs.enqueue(request, { tenant: 'other' });
  const body = JSON.stringify({ job_id: job.id, queue: 'mails', attempt: 0, tenant: 'other' });
  const other = { ...record!, messageId: 'other', receiptHandle: 'other', body };
  expect(await invoke({ Records: [record!, other] })).toEqual({ batchItemFailures: [] });
  expect(await producer.jobs.get(job.id, { tenant: 'other' })).toMatchObject({ state: 'completed' });
  expect(await producer.jobs.get(waiting)).toMatchObject({ state: 'available', run: 0 });
  expect(store.calls('claim')).toBe(0);
});

test('a job that fails waits for its retry in its row, not in the queue', async () => {
  const { enqueue, invoke, producer } = await open([
    task('mail.send', { run: () => Promise.reject(new Error('no server')) }),
  ]);
  const id = await enqueue('mail.send');
  expect(await invoke()).toEqual({ batchItemFailures: [] });
  expect(await producer.jobs.get(id)).toMatchObject({ state: 'retryable', attempt: 1 });
});

// fault: the function reaches its deadline while a handler runs
test('guarantee 11: what runs at the deadline is handed back, and hinted at before the function answers', async () => {
  const stuck = task('mail.send', {
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  });
  const { enqueue, invoke, producer, clock, messages } = await open([stuck]);
  const id = await enqueue('mail.send');
  const invoked = invoke();
  while ((await producer.jobs.get(id)).state !== 'active') await turn();
  const before = messages().length;
  await clock.advance(TIMEOUT_MS - 10_000);
  expect(await invoked).toEqual({ batchItemFailures: [] });
  expect(await producer.jobs.get(id)).toMatchObject({ state: 'available', attempt: 0, outcome: 'requeued' });
  expect(messages().length).toBe(before + 1);
});

test('a job that was cancelled while it ran does not keep the function', async () => {
  let started = () => {};
  const running = new Promise<void>((resolve) => {
    started = resolve;
  });
  const slow = task('mail.send', {
    run: (_, { signal }) => {
      started();
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    },
  });
  const { enqueue, invoke, producer, clock } = await open([slow]);
  const id = await enqueue('mail.send');
  const invoked = invoke();
  await running;
  await producer.jobs.cancel(id);
  await clock.advance(20_000);
  expect(await invoked).toEqual({ batchItemFailures: [] });
});

test('messages of jobs that could not be claimed come again', async () => {
  const { enqueue, event, invoke, clock, faults } = await open([send]);
  await enqueue('mail.send');
  const given = event();
  for (let call = 1; call < 200; call++) faults.push({ method: 'claimById', call, when: 'before' });
  const invoked = invoke(given);
  for (let second = 0; second < TIMEOUT_MS / 1000; second++) await clock.advance(1_000);
  expect(await invoked).toEqual({ batchItemFailures: [{ itemIdentifier: given.Records[0]!.messageId }] });
});

test('jobs of several tenants in one batch each run under their own', async () => {
  const { enqueue, producer, invoke, event, sqs } = await open([send]);
  await enqueue('mail.send');
  const { job } = await producer.jobs.enqueue(
    { type: 'mail.send', args: [{}], options: { queue: 'mails' } },
    { tenant: 'acme' },
  );
  const body = JSON.stringify({ job_id: job.id, queue: 'mails', attempt: 0, tenant: 'acme' });
  const { Records } = event();
  expect(await invoke({ Records: [...Records, recordOf('other', body, sqs.prefix)] })).toEqual({
    batchItemFailures: [],
  });
  expect(await producer.jobs.get(job.id, { tenant: 'acme' })).toMatchObject({ state: 'completed' });
});

test('a claim that fails takes nothing from the jobs that run', async () => {
  let finish = () => {};
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { enqueue, invoke, faults, clock, producer } = await open([task('mail.send', { run: () => gate })], {
    concurrency: 2,
  });
  const ids = [await enqueue('mail.send'), await enqueue('mail.send'), await enqueue('mail.send')];
  for (const call of [2, 3]) faults.push({ method: 'claimById', call, when: 'before' });
  const invoked = invoke();
  const stateOf = async (index: number) => (await producer.jobs.get(ids[index]!)).state;
  while ((await stateOf(0)) !== 'active') await turn();
  finish();
  while ((await stateOf(2)) !== 'completed') {
    await clock.advance(100);
    await turn();
  }
  expect(await invoked).toEqual({ batchItemFailures: [] });
  const jobs = await Promise.all(ids.map((id) => producer.jobs.get(id)));
  expect(jobs.map(({ state, run }) => [state, run])).toEqual(Array(3).fill(['completed', 1]));
});

test('a store that cannot be opened fails the invocation, and the next one tries again', async () => {
  let tries = 0;
  const refuse = async () => {
    tries += 1;
    throw new Error('away');
  };
  const { enqueue, invoke } = await open([send], { open: refuse });
  await enqueue('mail.send');
  await expect(invoke()).rejects.toThrow('away');
  await expect(invoke()).rejects.toThrow('away');
  expect(tries).toBe(2);
});

test("a foreign producer's messages are adopted", async () => {
  const inputs: unknown[] = [];
  const ingest = task('document_ingestion', { run: async (input) => void inputs.push(input) });
  const { invoke, sqs } = await open([ingest], { adopt: { queue: 'mails' } });
  const record = {
    ...recordOf('1', JSON.stringify({ job_id: 'order_17', documents: [] }), sqs.prefix),
    messageAttributes: { JobType: { stringValue: 'document_ingestion', dataType: 'String' as const } },
  };
  expect(await invoke({ Records: [record] })).toEqual({ batchItemFailures: [] });
  expect(await invoke({ Records: [{ ...record, messageId: '2', receiptHandle: '2' }] })).toEqual({
    batchItemFailures: [],
  });
  expect(inputs).toEqual([{ job_id: 'order_17', documents: [] }]);
});

test("a foreign producer's message that is no job is put aside", async () => {
  const { invoke, sqs, producer } = await open([send], { adopt: { queue: 'mails' } });
  const record = recordOf('1', '{"documents":[]}', sqs.prefix);
  expect(await invoke({ Records: [record] })).toEqual({ batchItemFailures: [] });
  const dead = sqs.server.inspectQueue(`${sqs.prefix}-mails-dead`)!;
  expect(dead.messages.ready.map(({ body }) => body)).toEqual(['{"documents":[]}']);
  expect(await producer.deadLetters.messages!.list({ queues: ['mails'], limit: 10 })).toMatchObject([
    { kind: 'foreign', reason: expect.stringContaining('names no task') },
  ]);
});

test.each(['mail.send', 'Not A Type'])(
  'E3: one with a binary attribute and the task %s is put aside whole',
  async (type) => {
    const { invoke, sqs, producer } = await open([send], { adopt: { queue: 'mails' } });
    const bytes = Buffer.from([0, 255, 128, 7]);
    const record = {
      ...recordOf('1', JSON.stringify({ ...(type !== 'mail.send' && { id: 'order_17' }) }), sqs.prefix),
      messageAttributes: {
        JobType: { stringValue: type, dataType: 'String' },
        Thumbnail: { binaryValue: bytes.toString('base64'), dataType: 'Binary.png' },
      },
    };
    expect(await invoke({ Records: [record] })).toEqual({ batchItemFailures: [] });
    expect(await producer.deadLetters.messages!.list({ queues: ['mails'], limit: 10 })).toHaveLength(1);
    const { inflight, ready } = sqs.server.inspectQueue(`${sqs.prefix}-mails-dead`)!.messages;
    const [kept] = [...ready, ...inflight.map(({ message }) => message)];
    const { DataType, BinaryValue } = kept!.messageAttributes['Thumbnail']!;
    expect({ DataType, bytes: Buffer.from(BinaryValue!, 'base64') }).toEqual({ DataType: 'Binary.png', bytes });
  },
);

// fault: the dead queue takes no message of this size
test('E3: one that cannot be put aside comes again, and the invocation does not wait for it', async () => {
  const { invoke, sqs } = await open([send], { adopt: { queue: 'mails' } });
  expect(await invoke({ Records: [recordOf('1', '{}', sqs.prefix)] })).toEqual({ batchItemFailures: [] });
  const { url } = sqs.server.inspectQueue(`${sqs.prefix}-mails-dead`)!;
  await sqs.client.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { MaximumMessageSize: '1024' } }));
  const record = {
    ...recordOf('2', JSON.stringify({ id: 'order_17', text: 'x'.repeat(2_000) }), sqs.prefix),
    messageAttributes: { JobType: { stringValue: 'Not A Type', dataType: 'String' } },
  };
  expect(await invoke({ Records: [record] })).toEqual({ batchItemFailures: [{ itemIdentifier: '2' }] });
});
