import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { engine, type Logger, newJobId, silentLogger } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import type { Client } from './sdk.ts';
import { useLocalSqs } from './testing/bench.ts';

const local = useLocalSqs();
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** The client, but for whatever goes to a dead queue. */
function withoutDeadQueues(client: Client): { client: Client; refused: string[] } {
  const refused: string[] = [];
  const send = (...args: Parameters<Client['send']>) => {
    const { QueueUrl, QueueName } = args[0].input as { QueueUrl?: string; QueueName?: string };
    const name = QueueName ?? QueueUrl?.slice(QueueUrl.lastIndexOf('/') + 1) ?? '';
    if (!name.endsWith('-dead')) return client.send(...args);
    refused.push(args[0].constructor.name);
    return Promise.reject(new Error('The dead queue is away.'));
  };
  return { client: { send } as Client, refused };
}

test('a dead notice that cannot be sent is logged; the row, its event and the deletion of the message are as ever', async () => {
  const sqs = local();
  const { client, refused } = withoutDeadQueues(sqs.client);
  const warnings: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (_, message) => void warnings.push(message) };
  const transport = await sqs.open({ client });
  const waybill = engine({ store: memoryStore({ clock: sqs.clock }), transport, logger });
  onTestFinished(() => waybill.close());
  const options = { queue: 'mails', retry: { max_attempts: 1, on_exhaustion: 'dead_letter' as const } };
  const { job } = await waybill.jobs.enqueue({ type: 'mail.send', args: [], options });
  const [lease] = await waybill.jobs.claim({ queues: ['mails'], waitMs: 5_000 });
  const error = { code: 'smtp_down', message: 'no answer' };
  const settled = await waybill.jobs.settle({
    id: job.id,
    leaseToken: lease!.token,
    outcome: { kind: 'failed', error },
  });
  expect(settled).toMatchObject({ state: 'discarded', dead: true });
  const left = () => {
    const { ready, inflight } = sqs.server.inspectQueue(`${sqs.prefix}-mails-default`)!.messages;
    return ready.length + inflight.length;
  };
  while (warnings.length === 0 || left() > 0) await turn();
  expect(refused.length).toBeGreaterThan(0);
  expect(warnings).toEqual(['Could not publish dead-letter notifications. The jobs are safe in the store.']);
  expect(await waybill.deadLetters.stats()).toMatchObject({ total: 1 });
  const { events } = await waybill.events.read({ filter: { jobIds: [job.id], types: ['job.discarded'] }, limit: 10 });
  expect(events).toHaveLength(1);
});

const DAY_S = 86_400;

test('the queues that are made are encrypted, wait long, and keep messages as long as each has use for them', async () => {
  const sqs = local();
  const transport = await sqs.open();
  onTestFinished(() => transport.close());
  const about = { tenant: '', queue: 'mails', type: 'mail.send', attempt: 0, delayMs: 0 };
  await transport.send([1, 0, -1].map((priority) => ({ ...about, priority, jobId: newJobId(Date.now()) })));
  const store = memoryStore({ clock: sqs.clock });
  const waybill = engine({ store, logger: silentLogger });
  onTestFinished(() => waybill.close());
  const { job } = await waybill.jobs.enqueue({ type: 'mail.send', args: [], options: { queue: 'mails' } });
  await transport.tellDead!([job]);
  const attributesOf = async (role: string) => {
    const { url, arn } = sqs.server.inspectQueue(`${sqs.prefix}-mails-${role}`)!;
    const { Attributes } = await sqs.client.send(
      new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }),
    );
    const { SqsManagedSseEnabled, VisibilityTimeout, ReceiveMessageWaitTimeSeconds, MessageRetentionPeriod } =
      Attributes!;
    const policy = Attributes!['RedrivePolicy'];
    return {
      arn,
      shown: { SqsManagedSseEnabled, VisibilityTimeout, ReceiveMessageWaitTimeSeconds, MessageRetentionPeriod },
      redrive: policy === undefined ? undefined : JSON.parse(policy),
    };
  };
  const all = { SqsManagedSseEnabled: 'true', VisibilityTimeout: '300', ReceiveMessageWaitTimeSeconds: '20' };
  const { arn: deadLetterTargetArn, ...redrive } = await attributesOf('redrive');
  for (const last of [redrive, await attributesOf('dead')]) {
    expect(last).toMatchObject({ shown: { ...all, MessageRetentionPeriod: String(14 * DAY_S) }, redrive: undefined });
  }
  for (const tier of ['high', 'default', 'low']) {
    const { shown, redrive: policy } = await attributesOf(tier);
    expect(shown).toEqual({ ...all, MessageRetentionPeriod: String(4 * DAY_S) });
    expect(policy).toEqual({ deadLetterTargetArn, maxReceiveCount: 3 });
  }
});
