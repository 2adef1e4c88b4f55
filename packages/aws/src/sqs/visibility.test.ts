import { engine, silentLogger, type Waybill } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { task, Worker } from '@waybill/worker';
import { expect, onTestFinished, test } from 'vitest';
import { sqsOptionsOf } from './address.ts';
import type { SqsOptions } from './settings.ts';
import { sqsTransport } from './sqs-transport.ts';
import { useLocalSqs } from './testing/bench.ts';
import { watched } from './testing/watched-client.ts';
import { failing } from './testing/world.ts';

const local = useLocalSqs();

/** One extension hides a message for 30 s, and the lease is one and a half times that. */
const VISIBILITY_S = 30;
const LEASE_MS = 45_000;
const BEAT_MS = 20_000;
const QUEUE = { queue: 'mails' };

async function open(options: SqsOptions = { visibilitySeconds: VISIBILITY_S }) {
  const sqs = local();
  const { client, fault } = failing(sqs.client, 'ChangeMessageVisibilityBatchCommand');
  const seen = watched({ ...sqs, client: client as typeof sqs.client });
  const transport = await sqs.open({ client: seen.client, ...options });
  const waybill = engine({ store: memoryStore({ clock: sqs.clock }), transport, logger: silentLogger });
  onTestFinished(() => waybill.close());
  const messages = () => {
    const { ready, inflight, delayed } = sqs.server.inspectQueue(`${sqs.prefix}-mails-default`)!.messages;
    return { visible: ready.length + delayed.length, hidden: inflight.map((one) => one.visibilityDeadline) };
  };
  /** A job whose message has arrived. */
  const enqueue = async (options = {}) => {
    const { job } = await waybill.jobs.enqueue({ type: 'mail.send', args: [], options: { ...QUEUE, ...options } });
    while (sqs.server.inspectQueue(`${sqs.prefix}-mails-default`)?.messages.ready.length !== 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    return job.id;
  };
  return { sqs, waybill, transport, seen, fault, messages, enqueue };
}

async function claimAndBeat(waybill: Waybill, leaseMs: number) {
  const [lease] = await waybill.jobs.claim({ queues: ['mails'], workerId: 'a', leaseMs });
  const jobs = [{ id: lease!.job.id, leaseToken: lease!.token }];
  const { extended } = await waybill.jobs.heartbeat({ workerId: 'a', jobs });
  return extended[0]!.leaseUntil;
}

test('an extension hides the message for 30 s, while the lease is 45 s', async () => {
  const { sqs, waybill, seen, messages, enqueue } = await open();
  await enqueue();
  const leaseUntil = await claimAndBeat(waybill, LEASE_MS);
  expect(leaseUntil).toBe(sqs.clock.now() + LEASE_MS);
  expect(seen.hidden).toEqual({ receives: [VISIBILITY_S], extensions: [VISIBILITY_S] });
  expect(messages().hidden).toEqual([sqs.clock.now() + 1_000 * VISIBILITY_S]);
});

test.each([
  ['that is shorter is followed', 10_000, {}, [10], [10]],
  ['that is longer because the job asks for it is not', 20_000, { visibility_timeout_ms: 90_000 }, [20], [30, 30]],
] as const)('a lease %s', async (_, leaseMs, options, receives, extensions) => {
  const { waybill, seen, enqueue } = await open();
  await enqueue(options);
  await claimAndBeat(waybill, leaseMs);
  expect(seen.hidden).toEqual({ receives, extensions });
});

test('without the option a message is hidden as long as the lease, and twelve hours at most', async () => {
  for (const [leaseMs, seconds] of [
    [LEASE_MS, 45],
    [86_400_000, 43_200],
  ] as const) {
    const { waybill, seen, enqueue } = await open({});
    await enqueue();
    await claimAndBeat(waybill, leaseMs);
    expect(seen.hidden).toEqual({ receives: [seconds], extensions: [seconds] });
  }
});

test('a message that is given back with a pause stays hidden for all of it', async () => {
  const { transport, seen, enqueue } = await open();
  await enqueue();
  const claim = { claimId: 'claim-0001', workerId: 'a', leaseMs: LEASE_MS };
  const received = await transport.receive({ tenant: '', queues: ['mails'], max: 1, waitMs: 0, claim });
  if (received.kind !== 'hints') throw new Error('Expected hints.');
  await transport.release(received.deliveries[0]!, 600_000);
  expect(seen.hidden.extensions).toEqual([600]);
});

/** Two workers; the first has begun a run that lasts until the test lets it end. */
async function twoWorkers(parts: Awaited<ReturnType<typeof open>>) {
  const { sqs, waybill, seen, enqueue } = parts;
  const end = Promise.withResolvers<string>();
  const runs: string[] = [];
  const workerOf = (id: string) => {
    const send = task('mail.send', {
      queue: 'mails',
      run: (_, { job }) => {
        runs.push(`${id}: run ${job.run}`);
        return end.promise;
      },
    });
    const settings = { id, clock: sqs.clock, logger: silentLogger, leaseMs: LEASE_MS, heartbeatMs: BEAT_MS };
    const worker = new Worker({ jobs: waybill.jobs, tasks: [send], ...settings, prefetch: 0 });
    onTestFinished(() => worker.stop({ graceMs: 0 }));
    return worker.start();
  };
  const id = await enqueue();
  const first = workerOf('a');
  while (first.running === 0) await new Promise((resolve) => setImmediate(resolve));
  workerOf('b');
  const complete = async () => {
    end.resolve('sent');
    while ((await waybill.jobs.get(id)).state !== 'completed') await seen.pass(1_000);
    return waybill.jobs.get(id);
  };
  return { id, runs, complete };
}

test('a run that lasts for ten minutes is delivered once', async () => {
  const parts = await open();
  const { runs, complete } = await twoWorkers(parts);
  await parts.seen.pass(600_000);
  expect(parts.seen.hidden.extensions.length).toBeGreaterThanOrEqual(29);
  expect(new Set(parts.seen.hidden.extensions)).toEqual(new Set([VISIBILITY_S]));
  expect(await complete()).toMatchObject({ run: 1, result: 'sent' });
  expect(runs).toEqual(['a: run 1']);
  expect(parts.seen.delivered).toBe(1);
  expect(parts.messages()).toEqual({ visible: 0, hidden: [] });
});

// fault: SQS refuses to hide the message, and it comes back while the lease holds
test('a message that comes back while the lease holds is deleted, and the run goes on', async () => {
  const parts = await open();
  const { id, runs, complete } = await twoWorkers(parts);
  parts.fault.isOn = true;
  await parts.seen.pass(29_000);
  expect(parts.fault.failures).toBeGreaterThan(0);
  parts.fault.isOn = false;
  expect(parts.seen.delivered).toBe(1);
  await parts.seen.pass(3_000);
  expect(parts.seen.delivered).toBe(2);
  expect(parts.messages()).toEqual({ visible: 0, hidden: [] });
  // The heartbeats that follow speak of a message that is gone.
  await parts.seen.pass(120_000);
  expect(await parts.waybill.jobs.get(id)).toMatchObject({ state: 'active', run: 1, workerId: 'a' });
  expect(await complete()).toMatchObject({ run: 1, attempt: 1, result: 'sent' });
  await parts.seen.pass(120_000);
  expect(runs).toEqual(['a: run 1']);
  expect(parts.seen.delivered).toBe(2);
  const { events } = await parts.waybill.events.read({ filter: { jobIds: [id], types: ['job.completed'] } });
  expect(events).toHaveLength(1);
});

test.each([0, -1, 1.5, 43_201, Number.NaN, Number.POSITIVE_INFINITY, '30'])('%j is refused', async (given) => {
  const opened = sqsTransport({ visibilitySeconds: given as number, region: 'eu-west-1' });
  await expect(opened).rejects.toMatchObject({
    ...{ code: 'invalid_request', message: "'visibilitySeconds' must be an integer from 1 to 43200." },
    details: { field: 'visibilitySeconds', min: 1, max: 43_200 },
  });
});

test('an address may say it, within the same bounds', () => {
  expect(sqsOptionsOf('sqs://eu-west-1/jobs?visibility=30')).toEqual({
    ...{ region: 'eu-west-1', prefix: 'jobs', visibilitySeconds: 30 },
  });
  for (const wrong of ['', '0', '-1', '1.5', '43201', '30s', '1e3']) {
    expect(() => sqsOptionsOf(`sqs://r/p?visibility=${wrong}`)).toThrow(
      "'transport' must have a 'visibility' of whole seconds from 1 to 43200.",
    );
  }
  expect(() => sqsOptionsOf('sqs://r/p?visibilty=30')).toThrow("Did you mean 'visibility'?");
});

test('a job whose worker fell silent is run again when its lease ends, whatever its message did', async () => {
  const { sqs, waybill, seen, messages, enqueue } = await open();
  const id = await enqueue();
  const claim = (workerId: string) => waybill.jobs.claim({ queues: ['mails'], workerId, leaseMs: LEASE_MS });
  const [dead] = await claim('a');
  await seen.pass(LEASE_MS - 1_000);
  expect(await claim('b')).toEqual([]);
  expect(messages()).toEqual({ visible: 0, hidden: [] });
  await seen.pass(3_000);
  const [again] = await claim('b');
  expect(again!.job).toMatchObject({ id, run: 2 });
  const outcome = { kind: 'completed', result: null } as const;
  const settle = ({ token }: { token: string }) => waybill.jobs.settle({ id, leaseToken: token, outcome });
  await expect(settle(dead!)).rejects.toMatchObject({ code: 'lease_lost' });
  await settle(again!);
  await sqs.advance(3_600_000);
  expect(await claim('b')).toEqual([]);
  expect(messages()).toEqual({ visible: 0, hidden: [] });
});

test('a receive may hide a message for another time than an extension', async () => {
  const { waybill, seen, enqueue } = await open({ visibilitySeconds: VISIBILITY_S, receiveVisibilitySeconds: 40 });
  await enqueue();
  await claimAndBeat(waybill, LEASE_MS);
  expect(seen.hidden).toEqual({ receives: [40], extensions: [VISIBILITY_S] });
});
