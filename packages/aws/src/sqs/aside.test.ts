import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { engine } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { refusing } from '../testing/denying.ts';
import type { SqsOptions } from './settings.ts';
import { useLocalSqs } from './testing/bench.ts';

const local = useLocalSqs();
const turn = () => new Promise((resolve) => setImmediate(resolve));
const COMPLETED = { kind: 'completed', result: null } as const;
const FAILED = { kind: 'failed', error: { code: 'smtp', message: 'no answer' } } as const;

/** An engine over SQS whose queue `mails` takes jobs from foreign producers. */
async function open(options: SqsOptions = { adopt: { mails: true } }) {
  const sqs = local();
  const waybill = engine({
    ...{ store: memoryStore({ clock: sqs.clock }), transport: await sqs.open(options), maintenance: false },
  });
  onTestFinished(() => waybill.close());
  const messages = waybill.deadLetters.messages!;
  const inQueue = (role: string) => {
    const found = sqs.server.inspectQueue(`${sqs.prefix}-mails-${role}`)?.messages;
    return [...(found?.ready ?? []), ...(found?.inflight ?? []).map(({ message }) => message)];
  };
  const claim = () => waybill.jobs.claim({ queues: ['mails'], count: 10, leaseMs: 30_000 });
  const settleAll = async (outcome: typeof COMPLETED | typeof FAILED) => {
    const leases = await claim();
    await Promise.all(leases.map(({ job: { id }, token }) => waybill.jobs.settle({ id, leaseToken: token, outcome })));
    return leases;
  };
  const put = async (role: string, MessageBody: string, attributes: Record<string, string> = {}) => {
    const { url } = sqs.server.inspectQueue(`${sqs.prefix}-mails-${role}`)!;
    const MessageAttributes = Object.fromEntries(
      Object.entries(attributes).map(([name, StringValue]) => [name, { DataType: 'String', StringValue }]),
    );
    await sqs.client.send(new SendMessageCommand({ QueueUrl: url, MessageBody, MessageAttributes }));
  };
  const enqueue = async (retry: Record<string, unknown> = {}) => {
    const { job } = await waybill.jobs.enqueue({ type: 'mail.send', args: [], options: { queue: 'mails', retry } });
    while (inQueue('default').length === 0) await turn();
    return job.id;
  };
  return { sqs, waybill, messages, inQueue, claim, settleAll, put, enqueue };
}

test('a foreign message that is no job is put aside, and sent back as it was', async () => {
  const { messages, inQueue, claim, put } = await open();
  await claim();
  await put('default', '{"documents":[]}', { Producer: 'scanner' });
  expect(await claim()).toEqual([]);
  expect(inQueue('default')).toEqual([]);
  const [found, ...others] = await messages.list({ limit: 10 });
  expect(others).toEqual([]);
  expect(found).toMatchObject({
    ...{ queue: 'mails', place: 'dead', kind: 'foreign', jobId: null, body: '{"documents":[]}' },
    reason: 'It is neither a hint nor a job.',
  });
  expect(await messages.replay({})).toEqual({ replayed: 1, removed: 0 });
  expect(inQueue('dead')).toEqual([]);
  const [back] = inQueue('default');
  expect(back!.body).toBe('{"documents":[]}');
  expect(Object.keys(back!.messageAttributes)).toEqual(['Producer']);
});

test('so is one that the engine refuses; repaired, it becomes a job', async () => {
  let isRepaired = false;
  const adopt = (body: unknown) => ({
    id: 'order_17',
    request: { type: isRepaired ? 'mail.send' : '', args: [body as never], options: { queue: 'mails' } },
  });
  const { messages, claim, put, settleAll, sqs } = await open({ adopt: { mails: adopt } });
  await claim();
  await put('default', '{"to":"ada"}');
  expect(await claim()).toEqual([]);
  expect(await messages.list({ limit: 10 })).toMatchObject([
    { kind: 'foreign', reason: expect.stringContaining('type') },
  ]);
  isRepaired = true;
  expect(await messages.replay({ queues: ['mails'] })).toEqual({ replayed: 1, removed: 0 });
  const [lease] = await settleAll(COMPLETED);
  expect(lease!.job).toMatchObject({ type: 'mail.send', spec: { args: [{ to: 'ada' }] } });
  await sqs.advance(60_000);
  expect(await messages.list({ limit: 10 })).toEqual([]);
});

// fault: a foreign message has the id of a job in another queue
test('B9: so is one that names a job of another queue, which is left alone', async () => {
  const { waybill, messages, claim, put } = await open();
  await claim();
  const { job } = await waybill.jobs.enqueue({ type: 'money.pay', args: [], options: { queue: 'payments' } });
  await put('default', JSON.stringify({ type: 'mail.send', id: job.id }));
  expect(await claim()).toEqual([]);
  expect(await messages.list({ queues: ['mails'], limit: 10 })).toMatchObject([
    { kind: 'foreign', reason: expect.stringContaining(job.id) },
  ]);
  expect(await waybill.jobs.get(job.id)).toMatchObject({ state: 'available', run: 0 });
});

test('notices stay while their jobs are dead, and go when these live again', async () => {
  const { waybill, messages, inQueue, settleAll, enqueue } = await open();
  const id = await enqueue({ max_attempts: 1, on_exhaustion: 'dead_letter' });
  await settleAll(FAILED);
  while (inQueue('dead').length === 0) await turn();
  expect(await messages.list({ limit: 10 })).toEqual([]);
  expect(await messages.replay({})).toEqual({ replayed: 0, removed: 0 });
  expect(inQueue('dead')).toHaveLength(1);
  await waybill.deadLetters.replay(id);
  expect(await messages.replay({}, { atMost: 0 })).toEqual({ replayed: 0, removed: 0 });
  expect(inQueue('dead')).toEqual([]);
  expect(await settleAll(COMPLETED)).toHaveLength(1);
});

test('hints that nobody deleted are sent back to their tier, or removed where the row has no use for them', async () => {
  const { waybill, messages, inQueue, settleAll, put, enqueue } = await open({});
  const id = await enqueue();
  const [hint] = inQueue('default');
  await put('redrive', hint!.body, { Priority: '5' });
  expect(await messages.list({ limit: 10 })).toMatchObject([{ place: 'redrive', kind: 'hint', jobId: id }]);
  expect(await messages.replay({})).toEqual({ replayed: 1, removed: 0 });
  expect(inQueue('high')).toHaveLength(1);
  await settleAll(COMPLETED);
  await put('redrive', hint!.body);
  expect(await messages.replay({})).toEqual({ replayed: 0, removed: 1 });
  expect([...inQueue('redrive'), ...inQueue('high'), ...inQueue('default')]).toEqual([]);
  expect((await waybill.jobs.get(id)).run).toBe(1);
});

test('broken off after a message was sent back and before it was removed, nothing runs twice', async () => {
  let isBroken = false;
  const sqs = local();
  const client = refusing(sqs.client, (command) =>
    isBroken && command === 'DeleteMessageBatch' ? new Error('broken off') : undefined,
  );
  const transport = await sqs.open({ adopt: { mails: true }, client });
  const waybill = engine({ store: memoryStore({ clock: sqs.clock }), transport, maintenance: false });
  onTestFinished(() => waybill.close());
  const messages = waybill.deadLetters.messages!;
  const claim = () => waybill.jobs.claim({ queues: ['mails'], count: 10, leaseMs: 30_000 });
  await claim();
  const { url } = sqs.server.inspectQueue(`${sqs.prefix}-mails-redrive`)!;
  const body = JSON.stringify({ type: 'mail.send', id: 'order_1' });
  await sqs.client.send(new SendMessageCommand({ QueueUrl: url, MessageBody: body }));
  isBroken = true;
  await expect(messages.replay({ queues: ['mails'] })).rejects.toThrow();
  isBroken = false;
  await messages.replay({ queues: ['mails'] });
  let runs = 0;
  for (let look = 0; look < 3; look++) {
    for (const { job, token } of await claim()) {
      runs += 1;
      await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: COMPLETED });
    }
    await sqs.advance(150_000);
  }
  expect(runs).toBe(1);
});

test('a bound is kept, and a listing leaves everything as it was', async () => {
  const { messages, inQueue, claim, put } = await open();
  await claim();
  for (let i = 0; i < 25; i++) await put('redrive', JSON.stringify({ i }));
  expect(await messages.list({ queues: ['mails'], limit: 7 })).toHaveLength(7);
  expect(await messages.list({ queues: ['mails'], limit: 100 })).toHaveLength(25);
  expect(await messages.replay({ queues: ['mails'] }, { atMost: 10 })).toEqual({ replayed: 10, removed: 0 });
  expect([inQueue('redrive').length, inQueue('default').length]).toEqual([15, 10]);
});
