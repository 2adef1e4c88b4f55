import { randomUUID } from 'node:crypto';
import { S3Client } from '@aws-sdk/client-s3';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { afterAll, beforeAll } from 'vitest';

export interface LocalS3 {
  server: FauxqsServer;
  client: S3Client;
  /** A new, empty bucket, so that tests do not meet each other's blobs. */
  bucket(): string;
}

/** An S3 in this process, for the tests of a file. */
export function useLocalS3(): () => LocalS3 {
  let server: FauxqsServer | undefined;
  let client: S3Client | undefined;
  beforeAll(async () => {
    server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false });
    client = new S3Client({
      endpoint: server.address,
      forcePathStyle: true,
      region: 'us-east-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
  });
  afterAll(async () => {
    client?.destroy();
    await server?.stop();
  });
  return () => ({
    server: server!,
    client: client!,
    bucket: () => server!.createBucket(`b-${randomUUID()}`).bucketName,
  });
}
