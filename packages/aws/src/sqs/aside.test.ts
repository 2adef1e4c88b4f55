import { SendMessageCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { engine } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { refusing } from '../testing/denying.ts';
import type { SqsOptions } from './settings.ts';
import { useLocalSqs } from './testing/bench.ts';
import { withoutWaits } from './testing/watched-client.ts';

const local = useLocalSqs();
const turn = () => new Promise((resolve) => setImmediate(resolve));
const COMPLETED = { kind: 'completed', result: null } as const;
const FAILED = { kind: 'failed', error: { code: 'smtp', message: 'no answer' } } as const;

/** An engine over SQS whose queue `mails` takes jobs from foreign producers. */
async function open(options: SqsOptions = { adopt: { mails: true } }) {
  const sqs = local();
  const waybill = engine({
    ...{
      store: memoryStore({ clock: sqs.clock }),
      transport: await sqs.open({ client: withoutWaits(sqs), ...options }),
      maintenance: false,
    },
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
    reason: expect.stringContaining('names no task'),
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

test.each([
  ['a list', '[]', {}, 'not a JSON object'],
  ['a task alone', '{"type":"mail.send"}', {}, 'names no request'],
  ['an id alone', '{"id":"a"}', {}, 'names no task'],
  ['an id with a space', '{"id":"a b"}', { JobType: 'mail.send' }, '1 to 256 letters'],
  ['too long an id', JSON.stringify({ id: 'x'.repeat(257) }), { JobType: 'mail.send' }, '1 to 256 letters'],
])('E5: the reason of %s says what is wrong', async (_, body, attributes, reason) => {
  const { messages, claim, put } = await open();
  await claim();
  await put('default', body, attributes);
  expect(await claim()).toEqual([]);
  expect(await messages.list({ limit: 10 })).toMatchObject([{ reason: expect.stringContaining(reason) }]);
});

test('E5: a request id of 256 characters makes one job, however often it comes', async () => {
  const { claim, put, settleAll } = await open();
  await claim();
  const body = JSON.stringify({ type: 'mail.send', id: 'x'.repeat(256) });
  await put('default', body);
  const [lease] = await settleAll(COMPLETED);
  expect(lease!.job).toMatchObject({ type: 'mail.send' });
  await put('default', body);
  expect(await claim()).toEqual([]);
  await put('default', body.replace('xx', 'xy'));
  expect(await claim()).toMatchObject([{ job: { type: 'mail.send' } }]);
});

test('E5: a message with ten attributes has a reason too, and all of them when it is sent back', async () => {
  const { messages, inQueue, claim, put } = await open();
  await claim();
  const names = Array.from({ length: 10 }, (_, index) => `a${index}`);
  await put('default', '{}', Object.fromEntries(names.map((name) => [name, `of ${name}`])));
  expect(await claim()).toEqual([]);
  expect(await messages.list({ limit: 10 })).toMatchObject([{ reason: expect.stringContaining('names no task') }]);
  expect(await messages.replay({})).toEqual({ replayed: 1, removed: 0 });
  const { messageAttributes } = inQueue('default')[0]!;
  expect(Object.keys(messageAttributes).sort()).toEqual(names);
  expect(messageAttributes['a9']).toMatchObject({ DataType: 'String', StringValue: 'of a9' });
});

// fault: a foreign message is as large as SQS takes
test('B16: one that its reason makes too large is put aside without it', async () => {
  const { messages, inQueue, claim, put } = await open();
  await claim();
  await put('default', 'x'.repeat(1_048_576));
  expect(await claim()).toEqual([]);
  expect(inQueue('default')).toEqual([]);
  const [found] = await messages.list({ limit: 10 });
  expect(found).toMatchObject({ kind: 'foreign', reason: null });
  expect(found!.body).toHaveLength(1_048_576);
});

// fault: the dead queue takes no message of this size
test('B16: one that cannot be put aside at all comes again after a quarter of an hour, and is not lost', async () => {
  const { sqs, inQueue, claim, put } = await open();
  await claim();
  await put('default', '{}');
  await claim();
  const { url } = sqs.server.inspectQueue(`${sqs.prefix}-mails-dead`)!;
  await sqs.client.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: { MaximumMessageSize: '1024' } }));
  await put('default', 'x'.repeat(2_000));
  let receives = 0;
  for (let minutes = 0; minutes < 14; minutes++) {
    expect(await claim()).toEqual([]);
    const [left] = inQueue('default');
    expect(left!.body).toHaveLength(2_000);
    receives = left!.approximateReceiveCount;
    await sqs.advance(60_000);
  }
  expect(receives).toBe(1);
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
  const client = refusing(withoutWaits(sqs), (command) =>
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
