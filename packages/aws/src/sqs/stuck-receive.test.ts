import { randomUUID } from 'node:crypto';
import { engine, systemClock } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { task, Worker } from '@waybill/worker';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { answered, FaultyProxy } from '../testing/faulty-proxy.ts';
import { sqsTransport } from './sqs-transport.ts';

/** Tells a hang from an answer. */
const HANGS_MS = 15_000;
/** Far longer than the test: what hangs here hangs. */
const timeouts = { requestMs: 120_000, callMs: 120_000 };
const LEASE = { claimId: 'claim', workerId: 'w', leaseMs: 30_000 };

let server: FauxqsServer;
beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false });
  return async () => {
    vi.unstubAllEnvs();
    await server.stop();
  };
});

async function behindProxy() {
  const proxy = await FaultyProxy.start(server.address);
  const prefix = `t${randomUUID().slice(0, 8)}`;
  const options = { prefix, endpoint: proxy.endpoint, region: 'us-east-1', timeouts };
  const transport = await sqsTransport(options);
  const messages = () => server.inspectQueue(`${prefix}-mails-default`)!.messages;
  return { proxy, transport, messages };
}

// fault: the hint is lost, and SQS answers nothing
test('guarantee 5: a job whose hint is lost runs, in its first attempt, while a receive from SQS hangs', async () => {
  const { proxy, transport } = await behindProxy();
  const waybill = engine({ store: memoryStore({ clock: systemClock }), transport });
  // Connections that hang end with the proxy.
  onTestFinished(() => waybill.close());
  onTestFinished(() => proxy.close());
  // The queues are there, so the next receive begins with what is in 'bulk', and hangs in that.
  await waybill.jobs.claim({ queues: ['mails', 'bulk'] });
  proxy.mode = 'swallow';
  const ran = Promise.withResolvers<number>();
  const send = task('mail.send', { queue: 'mails', run: async (_: unknown, { attempt }) => ran.resolve(attempt) });
  const { job } = await waybill.jobs.enqueue({ type: 'mail.send', args: [{}], options: { queue: 'mails' } });
  const swallowed = proxy.swallows();
  const worker = new Worker({ jobs: waybill.jobs, tasks: [send], queues: ['bulk', 'mails'] }).start();
  onTestFinished(() => worker.stop());
  await swallowed;
  expect(await answered(ran.promise, HANGS_MS)).toBe(1);
  const { state, attempt } = await vi.waitUntil(async () => {
    const now = await waybill.jobs.get(job.id);
    return now.state === 'completed' && now;
  });
  expect({ state, attempt }).toEqual({ state: 'completed', attempt: 1 });
});

test.each(['of a queue that is looked up', 'of messages'])(
  'E2: a receive %s ends with the signal of its caller',
  async (step) => {
    const { proxy, transport } = await behindProxy();
    onTestFinished(() => transport.close());
    onTestFinished(() => proxy.close());
    const request = { tenant: '', queues: ['mails'], max: 10, waitMs: 0, claim: LEASE };
    if (step === 'of messages') await transport.receive(request);
    proxy.mode = 'swallow';
    const caller = new AbortController();
    const [swallowed, received] = [proxy.swallows(), transport.receive({ ...request, signal: caller.signal })];
    await swallowed;
    caller.abort();
    expect(await answered(received, HANGS_MS)).toEqual({ kind: 'hints', deliveries: [] });
  },
);

test('E2: messages that come after their caller has left are given back', async () => {
  const { proxy, transport, messages } = await behindProxy();
  onTestFinished(() => transport.close());
  onTestFinished(() => proxy.close());
  const hint = { tenant: '', jobId: randomUUID(), queue: 'mails', type: 'a.b', priority: 0, attempt: 1, delayMs: 0 };
  await transport.send([hint]);
  const caller = new AbortController();
  const request = { tenant: '', queues: ['mails'], max: 10, waitMs: 0, claim: LEASE };
  await transport.receive({ ...request, queues: ['other'] });
  const held = proxy.hold('answer', 'AmazonSQS.ReceiveMessage');
  const received = transport.receive({ ...request, signal: caller.signal });
  const letGo = await held;
  caller.abort();
  expect(await answered(received, HANGS_MS)).toEqual({ kind: 'hints', deliveries: [] });
  letGo();
  await vi.waitUntil(() => messages().ready.length === 1 && messages().inflight.length === 0, { timeout: HANGS_MS });
});
