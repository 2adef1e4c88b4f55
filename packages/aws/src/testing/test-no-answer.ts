import { randomUUID } from 'node:crypto';
import { aJob, TestClock } from '@waybill/core/testing';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { hasTable } from '../dynamodb/doctor.ts';
import { dynamoStore } from '../dynamodb/store.ts';
import { canRun, useLocalDynamo } from '../dynamodb/testing/bench.ts';
import { s3BlobStore } from '../s3/s3-blob-store.ts';
import { sqsTransport } from '../sqs/sqs-transport.ts';
import { answered, FaultyProxy } from './faulty-proxy.ts';
import { LIMITED, storeOperations, verbsOf } from './store-operations.ts';

/** Short, so that a call to a service that does not answer is over soon; the emulators are faster. */
export const timeouts = { connectMs: 1_000, requestMs: 1_000, callMs: 2_500 };
/** Tells a hang from an answer. */
const HANGS_MS = 15_000;
export const LEASE = { claimId: 'claim', workerId: 'w', leaseMs: 30_000 };

export async function behindProxy(target: string) {
  const proxy = await FaultyProxy.start(target);
  onTestFinished(() => proxy.close());
  return { proxy, address: { endpoint: proxy.endpoint, region: 'us-east-1', timeouts } };
}

/** What the network does to all answers. */
export interface Fault {
  name: string;
  mode: FaultyProxy['mode'];
  /** Of a connection; then short answers arrive. */
  resetAfter?: number;
}

function begin({ mode, resetAfter = 1 }: Fault, proxy: FaultyProxy): void {
  proxy.mode = mode;
  proxy.resetAfter = resetAfter;
}

/** Every call fails in time, and says which service did not answer at which address. */
async function failInTime(
  service: string,
  proxy: FaultyProxy,
  { resetAfter = 1 }: Fault,
  calls: Record<string, () => Promise<unknown>>,
) {
  const told = await Promise.all(
    Object.entries(calls).map(async ([name, call]) => {
      const ended = answered(call(), HANGS_MS).then(
        () => 'answered',
        (error: { code?: string; message: string }) => `${error.code ?? 'hangs'}: ${error.message}`,
      );
      return [name, await ended];
    }),
  );
  const answers = resetAfter > 1 ? '^answered$|' : '';
  const expected = new RegExp(`${answers}^unavailable: .*${service}.*${proxy.endpoint}`);
  for (const [name, text] of told) expect(text, name).toMatch(expected);
}

/** That no call to AWS waits for a network that does this to answers, and that the next ones work at once. */
export function testNoAnswer(faults: readonly Fault[]): void {
  beforeAll(() => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
    return () => vi.unstubAllEnvs();
  });

  describe.skipIf(!canRun)('DynamoDB (skipped: needs Java 17)', () => {
    const local = useLocalDynamo();

    test.each(faults)(
      'B1, E1: calls to a DynamoDB that $name end in time, and the next one works at once',
      async (fault) => {
        const { proxy, address } = await behindProxy(local.endpoint());
        vi.stubEnv('AWS_ACCESS_KEY_ID', local.accessKey());
        const clock = new TestClock();
        const table = local.newTable();
        const made = await local.open({ table, clock });
        onTestFinished(made.close);
        const store = await dynamoStore({ ...address, table, createTable: false, clock });
        onTestFinished(() => store.close());
        await store.insert(Array.from({ length: 8 }, () => ({ jobs: [aJob()] })));
        const kept = aJob({ queue: 'kept' });
        await store.insert([{ jobs: [kept] }]);
        await store.queues.setLimit('', LIMITED, { concurrency: 1, rate: null });
        await store.claim([{ tenant: '', queues: [LIMITED], limit: 1, ...LEASE, now: clock.now() }]);
        const [jobs] = await store.claim([{ tenant: '', queues: ['default'], limit: 8, ...LEASE, now: clock.now() }]);
        const job = jobs![0]!;
        // Several connections that are idle when the fault begins, and that are dead from then on.
        await Promise.all(jobs!.map((one) => store.get([one])));
        const operations = storeOperations(store, job, clock);
        expect(Object.keys(operations).sort(), 'every verb of the store').toEqual(verbsOf(store).sort());
        begin(fault, proxy);
        await failInTime('DynamoDB', proxy, fault, {
          ...operations,
          open: () => dynamoStore({ ...address, table, createTable: false }),
          'has table': () => hasTable({ ...address, table }),
        });
        proxy.mode = 'pass';
        const before = proxy.swallowed;
        expect(await answered(store.get([kept.job]), HANGS_MS)).toMatchObject([{ id: kept.job.id }]);
        expect(proxy.swallowed, 'no dead connection was used again').toBe(before);
      },
    );
  });

  describe('SQS and S3', () => {
    let server: FauxqsServer;
    beforeAll(async () => {
      server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false });
      return () => server.stop();
    });

    test.each(faults)(
      'B1, E1: calls to an SQS that $name end in time, and the next one works at once',
      async (fault) => {
        const { proxy, address } = await behindProxy(server.address);
        const transport = await sqsTransport({ ...address, prefix: `t${randomUUID().slice(0, 8)}` });
        onTestFinished(() => transport.close());
        const hint = {
          tenant: '',
          jobId: aJob().job.id,
          queue: 'mails',
          type: 'a.b',
          priority: 0,
          attempt: 1,
          delayMs: 0,
        };
        const receive = () => transport.receive({ tenant: '', queues: ['mails'], max: 1, waitMs: 0, claim: LEASE });
        await transport.send([hint]);
        await transport.tellDead!([aJob({ queue: 'mails' }).job]);
        const [aside] = await transport.aside!.take({ tenant: '', queue: 'mails' }, 1);
        const { deliveries } = (await receive()) as { deliveries: Parameters<typeof transport.ack>[0][] };
        const delivery = deliveries[0]!;
        const operations = {
          send: () => transport.send([hint]),
          receive,
          ack: () => transport.ack(delivery),
          extend: () => transport.extend(delivery, 30_000),
          release: () => transport.release(delivery, 0),
          depth: () => transport.depth!('', 'mails'),
          putAside: () => transport.putAside!({ ...delivery, message: { Body: '{}' } }, 'it is none'),
          tellDead: () => transport.tellDead!([aJob({ queue: 'mails' }).job]),
          ping: () => transport.ping!(),
          'aside.take': () => transport.aside!.take({ tenant: '', queue: 'mails' }, 1),
          'aside.putBack': () => transport.aside!.putBack(aside!),
          'aside.sendBack': () => transport.aside!.sendBack(aside!),
          'aside.remove': () => transport.aside!.remove(aside!),
        };
        expect(Object.keys(operations).sort(), 'every verb of the transport').toEqual(verbsOf(transport).sort());
        begin(fault, proxy);
        await failInTime('SQS', proxy, fault, {
          ...operations,
          'send to a new queue': () => transport.send([{ ...hint, queue: 'new' }]),
        });
        proxy.mode = 'pass';
        const before = proxy.swallowed;
        await answered(transport.ack(delivery), HANGS_MS);
        expect(await answered(receive(), HANGS_MS)).toMatchObject({ kind: 'hints' });
        expect(proxy.swallowed, 'no dead connection was used again').toBe(before);
      },
    );

    test.each(faults)(
      'B1, E1: calls to an S3 that $name end in time, and the next one works at once',
      async (fault) => {
        const { proxy, address } = await behindProxy(server.address);
        const bucket = server.createBucket(`b-${randomUUID()}`).bucketName;
        const blobs = await s3BlobStore({ ...address, bucket });
        onTestFinished(() => blobs.close());
        const data = new TextEncoder().encode('x'.repeat(10_000));
        for (const job of [1, 4]) await blobs.put(`jobs/${job}/args`, data);
        const operations = {
          put: () => blobs.put('jobs/2/args', data),
          get: () => blobs.get('jobs/1/args'),
          list: () => blobs.list('jobs/', { limit: 10 }),
          deletePrefix: () => blobs.deletePrefix('jobs/4/'),
        };
        expect(Object.keys(operations).sort(), 'every verb of the blob store').toEqual(verbsOf(blobs).sort());
        const { put, ...others } = operations;
        // The time that 8 MB may take is also that of an answer which trickles.
        const large = fault.mode === 'trickle' ? 100_000 : 8_000_000;
        const puts = { put, 'put of much': () => blobs.put('jobs/3/args', new Uint8Array(large)) };
        begin(fault, proxy);
        // The answer to a put has no body that could stall or drip.
        await failInTime(
          'S3',
          proxy,
          fault,
          fault.mode === 'stall' || fault.mode === 'drip' ? others : { ...puts, ...others },
        );
        proxy.mode = 'pass';
        const before = proxy.swallowed;
        expect(await answered(blobs.get('jobs/1/args'), HANGS_MS)).toEqual(data);
        expect(proxy.swallowed, 'no dead connection was used again').toBe(before);
      },
    );
  });
}
