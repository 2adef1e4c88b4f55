import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { s3BlobStore } from './s3/s3-blob-store.ts';

const timeouts = { connectMs: 1_000, requestMs: 500, callMs: 1_500 };
const EVERY_MS = 100;

beforeAll(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  return () => vi.unstubAllEnvs();
});

/** A bucket whose one object comes in pieces, each a tenth of a second after the last. */
async function slowBucket(pieces: number, pieceBytes: number) {
  const send = (answer: ServerResponse) => {
    answer.writeHead(200, { 'content-type': 'application/octet-stream' });
    let left = pieces;
    const timer = setInterval(() => {
      answer.write(Buffer.alloc(pieceBytes, 'x'));
      left -= 1;
      if (left > 0) return;
      clearInterval(timer);
      answer.end();
    }, EVERY_MS);
    answer.once('close', () => clearInterval(timer));
  };
  const server = createServer((_, answer) => send(answer)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const blobs = await s3BlobStore({ bucket: 'b', region: 'us-east-1', endpoint, timeouts });
  onTestFinished(async () => {
    await blobs.close();
    server.closeAllConnections();
    server.close();
  });
  return blobs;
}

test('a large answer that keeps coming is not cut, though it takes longer than a request may', async () => {
  const blobs = await slowBucket(12, 40_000);
  const began = performance.now();
  expect((await blobs.get('large'))?.byteLength).toBe(480_000);
  expect(performance.now() - began).toBeGreaterThan(2 * timeouts.requestMs);
});

// fault: the service answers, but ever so slowly
test('B1: an answer that never stops dripping is cut', async () => {
  const blobs = await slowBucket(Number.POSITIVE_INFINITY, 10);
  await expect(blobs.get('endless')).rejects.toMatchObject({ code: 'unavailable' });
});
