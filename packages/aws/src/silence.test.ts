import { beforeAll, expect, test, vi } from 'vitest';
import { dynamoStore } from './dynamodb/store.ts';
import { s3BlobStore } from './s3/s3-blob-store.ts';
import { isSilence } from './silence.ts';
import { sqsTransport } from './sqs/sqs-transport.ts';

beforeAll(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  return () => vi.unstubAllEnvs();
});

const timeouts = { connectMs: 1_000, requestMs: 1_000, callMs: 2_500 };
/** No resolver knows names of this domain, and none may. */
const address = { endpoint: 'http://nowhere.invalid:8000', region: 'us-east-1', timeouts };

// fault: the name of the service cannot be resolved
test.each<[string, () => Promise<unknown>]>([
  ['DynamoDB', () => dynamoStore({ ...address, table: 'jobs' })],
  [
    'SQS',
    async () => {
      const transport = await sqsTransport(address);
      await transport.depth!('', 'mails').finally(() => transport.close());
    },
  ],
  [
    'S3',
    async () => {
      const blobs = await s3BlobStore({ ...address, bucket: 'b' });
      await blobs.get('a').finally(() => blobs.close());
    },
  ],
])('E4: a %s whose name is not known is told as unavailable, with its address', async (service, call) => {
  const message = expect.stringMatching(new RegExp(`${service}.*${address.endpoint}`));
  await expect(call()).rejects.toMatchObject({ code: 'unavailable', message });
});

test.each(['EAI_AGAIN', 'ENOTFOUND', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'EHOSTDOWN', 'HPE_INVALID_CONSTANT'])(
  'E4: %s means that nothing was heard of the service',
  (code) => {
    expect(isSilence(Object.assign(new Error(code), { code }))).toBe(true);
  },
);

test('what a service answers is no silence', () => {
  expect(isSilence(Object.assign(new Error('no'), { name: 'ValidationException' }))).toBe(false);
});
