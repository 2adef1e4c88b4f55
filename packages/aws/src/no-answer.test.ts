import { randomUUID } from 'node:crypto';
import { aJob, settleChange, TestClock } from '@waybill/core/testing';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { hasTable } from './dynamodb/doctor.ts';
import { dynamoStore } from './dynamodb/store.ts';
import { canRun, useLocalDynamo } from './dynamodb/testing/bench.ts';
import { s3BlobStore } from './s3/s3-blob-store.ts';
import { sqsTransport } from './sqs/sqs-transport.ts';
import { answered, FaultyProxy } from './testing/faulty-proxy.ts';

/** Short, so that a call to a service that does not answer is over soon; the emulators are faster. */
const timeouts = { connectMs: 1_000, requestMs: 1_000, callMs: 2_500 };
/** Tells a hang from an answer. */
const HANGS_MS = 15_000;
const LEASE = { claimId: 'claim', workerId: 'w', leaseMs: 30_000 };

beforeAll(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  return () => vi.unstubAllEnvs();
});

async function behindProxy(target: string) {
  const proxy = await FaultyProxy.start(target);
  onTestFinished(() => proxy.close());
  return { proxy, address: { endpoint: proxy.endpoint, region: 'us-east-1', timeouts } };
}

/** Every call fails in time, and says which service did not answer at which address. */
async function failInTime(service: string, proxy: FaultyProxy, calls: Record<string, () => Promise<unknown>>) {
  const told = await Promise.all(
    Object.entries(calls).map(async ([name, call]) => {
      const ended = answered(call(), HANGS_MS).then(
        () => 'answered',
        (error: { code?: string; message: string }) => `${error.code ?? 'hangs'}: ${error.message}`,
      );
      return [name, await ended];
    }),
  );
  const expected = new RegExp(`^unavailable: .*${service}.*${proxy.endpoint}`);
  for (const [name, text] of told) expect(text, name).toMatch(expected);
}

const modes = ['swallow', 'stall'] as const;
/** Tried with SQS, since the clients of all services have the same bounds; only S3 may take long while bytes come. */
const every = [...modes, 'trickle'] as const;

describe.skipIf(!canRun)('DynamoDB (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  test.each(modes)('B1, E1: calls to a DynamoDB that %ss end in time, and the next one works at once', async (mode) => {
    const { proxy, address } = await behindProxy(local.endpoint());
    vi.stubEnv('AWS_ACCESS_KEY_ID', local.accessKey());
    const clock = new TestClock();
    const table = local.newTable();
    const made = await local.open({ table, clock });
    onTestFinished(made.close);
    const store = await dynamoStore({ ...address, table, createTable: false, clock });
    onTestFinished(() => store.close());
    await store.insert(Array.from({ length: 8 }, () => ({ jobs: [aJob()] })));
    const [jobs] = await store.claim([{ tenant: '', queues: ['default'], limit: 8, ...LEASE, now: clock.now() }]);
    const job = jobs![0]!;
    // Several connections that are idle when the fault begins, and that are dead from then on.
    await Promise.all(jobs!.map((one) => store.get([one])));
    proxy.mode = mode;
    const by = { run: job.run, claimId: job.claimId! };
    await failInTime('DynamoDB', proxy, {
      insert: () => store.insert([{ jobs: [aJob()] }]),
      get: () => store.get([job]),
      list: () => store.list({ filter: { tenant: '' }, limit: 10 }),
      claim: () => store.claim([{ tenant: '', queues: ['other'], limit: 1, ...LEASE, now: clock.now() }]),
      extend: () => store.extend([{ ...job, by, leaseMs: 30_000, now: clock.now() }]),
      beat: () => store.workers.beat({ tenant: '', id: 'w', activeJobs: 1, now: clock.now() }),
      apply: () => store.apply([settleChange(job, { kind: 'completed', result: null }, clock.now())]),
      due: () => store.due({ now: clock.now(), limit: 10 }),
      events: () => store.events.read({ filter: { tenant: '*' }, limit: 10 }),
      ping: () => store.ping(),
      open: () => dynamoStore({ ...address, table, createTable: false }),
      'has table': () => hasTable({ ...address, table }),
    });
    proxy.mode = 'pass';
    const before = proxy.swallowed;
    expect(await answered(store.get([job]), HANGS_MS)).toMatchObject([{ id: job.id }]);
    expect(proxy.swallowed, 'no dead connection was used again').toBe(before);
  });
});

describe('SQS and S3', () => {
  let server: FauxqsServer;
  beforeAll(async () => {
    server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false });
    return () => server.stop();
  });

  test.each(every)('B1, E1: calls to an SQS that %ss end in time, and the next one works at once', async (mode) => {
    const { proxy, address } = await behindProxy(server.address);
    const transport = await sqsTransport({ ...address, prefix: `t${randomUUID().slice(0, 8)}` });
    onTestFinished(() => transport.close());
    const hint = { tenant: '', jobId: aJob().job.id, queue: 'mails', type: 'a.b', priority: 0, attempt: 1, delayMs: 0 };
    const receive = () => transport.receive({ tenant: '', queues: ['mails'], max: 1, waitMs: 0, claim: LEASE });
    await transport.send([hint]);
    const { deliveries } = (await receive()) as { deliveries: Parameters<typeof transport.ack>[0][] };
    const delivery = deliveries[0]!;
    proxy.mode = mode;
    await failInTime('SQS', proxy, {
      send: () => transport.send([hint]),
      'send to a new queue': () => transport.send([{ ...hint, queue: 'new' }]),
      receive,
      ack: () => transport.ack(delivery),
      extend: () => transport.extend(delivery, 30_000),
      depth: () => transport.depth!('', 'mails'),
      ping: () => transport.ping!(),
    });
    proxy.mode = 'pass';
    const before = proxy.swallowed;
    await answered(transport.ack(delivery), HANGS_MS);
    expect(await answered(receive(), HANGS_MS)).toMatchObject({ kind: 'hints' });
    expect(proxy.swallowed, 'no dead connection was used again').toBe(before);
  });

  test('B1: a long poll that SQS answers late is not cut', async () => {
    const { address } = await behindProxy(server.address);
    const transport = await sqsTransport({ ...address, prefix: `t${randomUUID().slice(0, 8)}` });
    onTestFinished(() => transport.close());
    const request = { tenant: '', queues: ['mails'], max: 1, claim: LEASE };
    // Longer than a request without a wait may take.
    const waited = performance.now();
    expect(await transport.receive({ ...request, waitMs: 2_000 })).toEqual({ kind: 'hints', deliveries: [] });
    expect(performance.now() - waited).toBeGreaterThan(timeouts.requestMs);
  });

  test.each(modes)('B1, E1: calls to an S3 that %ss end in time, and the next one works at once', async (mode) => {
    const { proxy, address } = await behindProxy(server.address);
    const bucket = server.createBucket(`b-${randomUUID()}`).bucketName;
    const blobs = await s3BlobStore({ ...address, bucket });
    onTestFinished(() => blobs.close());
    const data = new TextEncoder().encode('x'.repeat(10_000));
    await blobs.put('jobs/1/args', data);
    proxy.mode = mode;
    // The answer to a put has no body that could stall.
    const puts = {
      put: () => blobs.put('jobs/2/args', data),
      'put of 8 MB': () => blobs.put('jobs/3/args', new Uint8Array(8_000_000)),
    };
    await failInTime('S3', proxy, {
      ...(mode === 'swallow' && puts),
      get: () => blobs.get('jobs/1/args'),
      list: () => blobs.list('jobs/', { limit: 10 }),
      delete: () => blobs.deletePrefix('jobs/1/'),
    });
    proxy.mode = 'pass';
    const before = proxy.swallowed;
    expect(await answered(blobs.get('jobs/1/args'), HANGS_MS)).toEqual(data);
    expect(proxy.swallowed, 'no dead connection was used again').toBe(before);
  });
});
