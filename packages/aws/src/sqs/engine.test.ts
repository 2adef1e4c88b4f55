import { CreateQueueCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { engine } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import type { Client } from './sdk.ts';
import type { SqsOptions } from './settings.ts';
import { useLocalSqs } from './testing/bench.ts';

const local = useLocalSqs();
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function open(options: SqsOptions = {}) {
  const sqs = local();
  const transport = await sqs.open(options);
  const waybill = engine({ store: memoryStore({ clock: sqs.clock }), transport });
  onTestFinished(() => waybill.close());
  const messages = (role: string) => sqs.server.inspectQueue(`${sqs.prefix}-mails-${role}`)?.messages.ready ?? [];
  return { sqs, transport, waybill, messages };
}

test('a busy queue costs at most half a request per job', async () => {
  const sqs = local();
  let requests = 0;
  const send = (...args: Parameters<Client['send']>) => {
    requests += 1;
    return sqs.client.send(...args);
  };
  const transport = await sqs.open({ client: { send } as Client });
  const waybill = engine({ store: memoryStore({ clock: sqs.clock }), transport });
  onTestFinished(() => waybill.close());
  const job = { type: 'mail.send', args: ['x'.repeat(500)], options: { queue: 'mails' } };
  const ids = (await waybill.jobs.enqueueMany(Array.from({ length: 200 }, () => job))).map(({ id }) => id);
  const ready = () => sqs.server.inspectQueue(`${sqs.prefix}-mails-default`)?.messages.ready.length;
  while (ready() !== ids.length) await turn();
  for (let done = 0; done < ids.length; ) {
    const leases = await waybill.jobs.claim({ queues: ['mails'], count: 10, waitMs: 20_000 });
    const outcome = { kind: 'completed', result: null } as const;
    await Promise.all(leases.map(({ job: { id }, token }) => waybill.jobs.settle({ id, leaseToken: token, outcome })));
    done += leases.length;
  }
  process.stdout.write(`sqs: ${requests / ids.length} requests per job, sent, received and deleted\n`);
  expect(requests / ids.length).toBeLessThanOrEqual(0.5);
});

test('a job that died is told of in its dead queue', async () => {
  const { waybill, messages } = await open();
  const request = { type: 'mail.send', args: [], options: { queue: 'mails', retry: { max_attempts: 1 } } };
  const { job } = await waybill.jobs.enqueue(request);
  const [lease] = await waybill.jobs.claim({ queues: ['mails'], workerId: 'one', waitMs: 5_000 });
  const error = { code: 'smtp_down', message: 'no answer' };
  await waybill.jobs.settle({ id: job.id, leaseToken: lease!.token, outcome: { kind: 'failed', error } });
  while (messages('dead').length === 0) await turn();
  expect(JSON.parse(messages('dead')[0]!.body)).toEqual({
    ...{ job_id: job.id, type: 'mail.send', queue: 'mails', worker_id: 'one', attempt: 1, max_attempts: 1 },
    error,
    time: expect.stringMatching(/^2030-01-01T00:00:00/),
  });
});

test('a dead job that is replayed is hinted at anew', async () => {
  const { waybill } = await open();
  const request = {
    type: 'mail.send',
    args: [],
    options: { queue: 'mails', retry: { max_attempts: 1, on_exhaustion: 'dead_letter' as const } },
  };
  const { job } = await waybill.jobs.enqueue(request);
  const claim = () => waybill.jobs.claim({ queues: ['mails'], waitMs: 5_000 });
  const [lease] = await claim();
  const error = { code: 'smtp_down', message: 'no answer' };
  await waybill.jobs.settle({ id: job.id, leaseToken: lease!.token, outcome: { kind: 'failed', error } });
  await waybill.deadLetters.replay(job.id);
  expect(await claim()).toMatchObject([{ job: { id: job.id, run: 2 } }]);
});

// fault: a lease token names the message of another queue
test.each(['bills', 'other'])('B16: a lease token cannot delete or hide messages of the queue %s', async (name) => {
  const { sqs, waybill } = await open();
  const { job } = await waybill.jobs.enqueue({ type: 'mail.send', args: [], options: { queue: 'mails' } });
  const [lease] = await waybill.jobs.claim({ queues: ['mails'], workerId: 'one', waitMs: 5_000 });
  const QueueName = name === 'bills' ? `${sqs.prefix}-bills-default` : `other-${sqs.prefix}`;
  const { QueueUrl } = await sqs.client.send(new CreateQueueCommand({ QueueName }));
  await sqs.client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'precious' }));
  const { Messages } = await sqs.client.send(new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout: 60 }));
  const [run, claimId] = lease!.token.split('.');
  const leaseToken = `${run}.${claimId}.${QueueName}/${Messages![0]!.ReceiptHandle}`;
  if (name === 'other') {
    const { lost } = await waybill.jobs.heartbeat({
      workerId: 'one',
      jobs: [{ id: job.id, leaseToken }],
      leaseMs: 1_000,
    });
    expect(lost).toEqual([]);
  }
  await waybill.jobs.settle({ id: job.id, leaseToken, outcome: { kind: 'completed', result: null } });
  const { ready, inflight } = sqs.server.inspectQueue(QueueName)!.messages;
  expect(ready).toEqual([]);
  expect(inflight.map(({ message }) => message.body)).toEqual(['precious']);
  await sqs.advance(59_000);
  const early = await sqs.client.send(new ReceiveMessageCommand({ QueueUrl }));
  expect(early.Messages ?? []).toEqual([]);
});

test('adopt mode: a foreign message runs as a job, once, though it comes twice', async () => {
  const { sqs, waybill, messages } = await open({ adopt: { mails: true } });
  const claim = () => waybill.jobs.claim({ queues: ['mails'], count: 10 });
  expect(await claim()).toEqual([]);
  const QueueUrl = sqs.server.inspectQueue(`${sqs.prefix}-mails-default`)!.url;
  const body = { job_id: 'order_17', session_id: 's-1' };
  const MessageAttributes = { JobType: { DataType: 'String', StringValue: 'document_ingestion' } };
  const send = new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(body), MessageAttributes });
  await sqs.client.send(send);
  const [lease, ...others] = await claim();
  expect(others).toEqual([]);
  expect(lease!.job).toMatchObject({ type: 'document_ingestion', queue: 'mails', spec: { args: [body] } });
  await waybill.jobs.settle({
    ...{ id: lease!.job.id, leaseToken: lease!.token, outcome: { kind: 'completed', result: null } },
  });
  await sqs.client.send(send);
  await sqs.advance(60_000);
  expect(await claim()).toEqual([]);
  expect(messages('default')).toEqual([]);
});

test('adopt mode: what the engine refuses is removed', async () => {
  const adopt = () => ({ id: 'a', request: { type: 'Not A Type', args: [] } });
  const { sqs, waybill } = await open({ adopt: { mails: adopt } });
  expect(await waybill.jobs.claim({ queues: ['mails'] })).toEqual([]);
  sqs.server.sendMessage(`${sqs.prefix}-mails-default`, '{}');
  expect(await waybill.jobs.claim({ queues: ['mails'] })).toEqual([]);
  await sqs.advance(3_600_000);
  expect(await waybill.jobs.claim({ queues: ['mails'] })).toEqual([]);
  const { ready, inflight } = sqs.server.inspectQueue(`${sqs.prefix}-mails-default`)!.messages;
  expect([...ready, ...inflight]).toEqual([]);
});
