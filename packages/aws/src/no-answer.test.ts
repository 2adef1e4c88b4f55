import { randomUUID } from 'node:crypto';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { s3BlobStore } from './s3/s3-blob-store.ts';
import { sqsTransport } from './sqs/sqs-transport.ts';
import { behindProxy, LEASE, testNoAnswer, timeouts } from './testing/test-no-answer.ts';

// The others are in no-answer.slow.test.ts.
testNoAnswer([
  { name: 'swallows', mode: 'swallow' },
  { name: 'stalls', mode: 'stall' },
  { name: 'resets', mode: 'reset' },
]);

describe('SQS and S3 that answer late, or in part', () => {
  let server: FauxqsServer;
  beforeAll(async () => {
    server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false });
    return () => server.stop();
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

  // fault: the connection is reset in the midst of the body, once
  test('an object whose body breaks off is asked for again', async () => {
    const { proxy, address } = await behindProxy(server.address);
    const bucket = server.createBucket(`b-${randomUUID()}`).bucketName;
    const blobs = await s3BlobStore({ ...address, bucket });
    onTestFinished(() => blobs.close());
    const data = new TextEncoder().encode('x'.repeat(10_000));
    await blobs.put('jobs/1/args', data);
    proxy.mode = 'reset';
    proxy.resetAfter = 5_000;
    const broken = proxy.swallows().then(() => {
      proxy.mode = 'pass';
    });
    expect(await blobs.get('jobs/1/args')).toEqual(data);
    await broken;
    expect(proxy.swallowed).toBe(1);
  });
});
