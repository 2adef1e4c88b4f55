import { S3Client } from '@aws-sdk/client-s3';
import { testBlobStore } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { s3OptionsOf } from './address.ts';
import { s3BlobStore } from './s3-blob-store.ts';
import { useLocalS3 } from './testing/bench.ts';

const local = useLocalS3();

const open = async (options: { prefix?: string } = {}) => {
  const { client, bucket } = local();
  const name = bucket();
  const blobs = await s3BlobStore({ bucket: name, client, ...options });
  return { blobs, name, close: () => blobs.close() };
};

testBlobStore('S3', open);
testBlobStore('S3 below a prefix', () => open({ prefix: 'our/own/' }));

const bytes = new TextEncoder().encode('x');

test('below a prefix it sees and deletes nothing of others in the bucket', async () => {
  const { blobs, name } = await open();
  const ours = await s3BlobStore({ bucket: name, client: local().client, prefix: 'ours/' });
  await blobs.put('jobs/1/args', bytes);
  await ours.put('jobs/1/args', bytes);
  await ours.deletePrefix('jobs/1/');
  expect(await blobs.get('jobs/1/args')).toEqual(bytes);
  expect(await ours.list('jobs/', { limit: 10 })).toEqual([]);
});

test('deletes more than fit into one request', async () => {
  const { blobs } = await open();
  await Promise.all(Array.from({ length: 1_005 }, (_, i) => blobs.put(`jobs/1/event-${i}`, bytes)));
  await blobs.deletePrefix('jobs/1/');
  expect(await blobs.list('jobs/', { limit: 10 })).toEqual([]);
});

test('a bucket that is not there is told by its name', async () => {
  const nowhere = await s3BlobStore({ bucket: 'not-there', client: local().client });
  const refusal = { code: 'not_found', message: expect.stringContaining('not-there') };
  await expect(nowhere.put('a', bytes)).rejects.toMatchObject(refusal);
  await expect(nowhere.get('a')).rejects.toMatchObject(refusal);
});

test('S3 that does not answer is unavailable, and that is not the same as a blob that is gone', async () => {
  const client = new S3Client({
    ...{ endpoint: 'http://127.0.0.1:1', region: 'us-east-1', forcePathStyle: true, maxAttempts: 1 },
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const away = await s3BlobStore({ bucket: 'away', client });
  await expect(away.get('a')).rejects.toMatchObject({ code: 'unavailable', retryable: true });
  await expect(away.put('a', bytes)).rejects.toMatchObject({ code: 'unavailable' });
  client.destroy();
});

test('bucket, prefix, region and endpoint come from the address', () => {
  expect(s3OptionsOf('s3://payloads')).toEqual({ bucket: 'payloads' });
  const endpoint = 'http://127.0.0.1:4566';
  expect(s3OptionsOf(`s3://payloads/our/own/?region=eu-west-1&endpoint=${encodeURIComponent(endpoint)}`)).toEqual({
    ...{ bucket: 'payloads', prefix: 'our/own/', region: 'eu-west-1', endpoint },
  });
});

test.each(['s3:', 's3:///x', 'file:x', 's3://b?table=1'])('%s is refused', (address) => {
  expect(() => s3OptionsOf(address)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
});
