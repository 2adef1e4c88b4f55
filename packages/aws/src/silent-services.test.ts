import { createServer, type Socket } from 'node:net';
import type { Logger } from '@waybill/core';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { dynamoStore } from './dynamodb/store.ts';
import { sqsTransport } from './sqs/sqs-transport.ts';

const SOON_MS = 2_000;

beforeAll(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  return () => vi.unstubAllEnvs();
});

/** Accepts connections and never answers. */
async function silentServer(): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).resume());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

/** Answers the first warning, and how long it took to come. */
function firstWarning() {
  const begun = performance.now();
  const { promise: told, resolve } = Promise.withResolvers<{ message: string; ms: number }>();
  const nothing = () => {};
  const warn = (_: object, message: string) => resolve({ message, ms: performance.now() - begun });
  return { logger: { debug: nothing, info: nothing, error: nothing, warn } satisfies Logger, told };
}

const address = (endpoint: string) => ({
  ...{ endpoint: `${endpoint}/?token=secret`, region: 'us-east-1' },
  timeouts: { connectMs: 3_000, requestMs: 3_000, callMs: 3_000 },
});

// fault: the service accepts connections and never answers
test('D12: a DynamoDB that never answers is reported within two seconds', async () => {
  const endpoint = await silentServer();
  const { logger, told } = firstWarning();
  const opened = dynamoStore({ ...address(endpoint), table: 'jobs', logger });
  const refused = expect(opened).rejects.toMatchObject({ code: 'unavailable' });
  const { message, ms } = await told;
  expect(message).toBe(`DynamoDB at ${endpoint} has not answered yet.`);
  expect(ms).toBeLessThan(SOON_MS);
  await refused;
});

// fault: the service accepts connections and never answers
test('D12: an SQS that never answers is reported within two seconds, and when its time is over', async () => {
  const endpoint = await silentServer();
  const messages: string[] = [];
  const { promise: both, resolve } = Promise.withResolvers<void>();
  const { logger, told } = firstWarning();
  const warn = (fields: object, message: string) => {
    logger.warn(fields, message);
    if (messages.push(message) === 2) resolve();
  };
  const transport = await sqsTransport({ ...address(endpoint), logger: { ...logger, warn } });
  onTestFinished(() => transport.close());
  const { message, ms } = await told;
  expect(message).toBe(`SQS at ${endpoint} has not answered yet.`);
  expect(ms).toBeLessThan(SOON_MS);
  await both;
  expect(messages[1]).toBe(`SQS at ${endpoint} does not answer. Workers look into the store until it does.`);
});

test('D12: an SQS that refuses connections is reported at once, and a closed transport says no more', async () => {
  const { logger, told } = firstWarning();
  const transport = await sqsTransport({ ...address('http://127.0.0.1:1'), logger });
  onTestFinished(() => transport.close());
  expect((await told).message).toContain('SQS at http://127.0.0.1:1 does not answer.');
  const silent: string[] = [];
  const quiet = { ...logger, warn: (_: object, message: string) => void silent.push(message) };
  const closed = await sqsTransport({ ...address(await silentServer()), logger: quiet });
  await closed.close();
  expect(silent).toEqual([]);
});
