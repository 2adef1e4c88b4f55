import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { type Logger, silentLogger } from '@waybill/core';
import { task } from '@waybill/worker';
import { expect, onTestFinished, test } from 'vitest';
import { keyedServer } from '../testing/keyed-server.ts';
import { connect } from './connect.ts';
import type { ConnectOptions } from './connect-options.ts';

const SECRET = 'wb_abcdefghjkmn_S3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3c';
const greet = task('greet.one', { run: async (name: string) => `Hello ${name}` });

async function connected(url: string, options: ConnectOptions) {
  const waybill = await connect(url, { logger: silentLogger, ...options });
  onTestFinished(() => waybill.close());
  return waybill;
}

test('with its key a caller does what the key allows, and no more', async () => {
  const { url, secretFor } = await keyedServer();
  const producer = await connected(url, { key: await secretFor({ scopes: ['enqueue', 'read'] }, 'acme') });
  const worker = await connected(url, { key: await secretFor({ scopes: ['work', 'read'] }, 'acme') });
  worker.work([greet]);
  const job = await producer.enqueue(greet, 'Ada');
  expect(await producer.wait(job)).toBe('Hello Ada');
  await expect(worker.enqueue(greet, 'Grace')).rejects.toMatchObject({ code: 'forbidden' });
  await expect(producer.keys!.list()).rejects.toMatchObject({ code: 'forbidden' });
});

test('an admin makes keys over HTTP that count at once', async () => {
  const { url, secretFor } = await keyedServer();
  const admin = await connected(url, { key: await secretFor({}, 'acme') });
  const { key, secret } = await admin.keys!.create({ name: 'ci', scopes: ['read'] });
  const reader = await connected(url, { key: secret });
  expect(await reader.queues.list()).toEqual([]);
  await admin.keys!.revoke(key.id);
  await expect(reader.queues.list()).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('without a key, and with a wrong one, every call is refused', async () => {
  const { url } = await keyedServer();
  for (const options of [{}, { key: SECRET }]) {
    const error = await (await connected(url, options)).queues.list().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'unauthenticated' });
    expect(inspect(error, { depth: 10 })).not.toContain(SECRET);
  }
});

test.each<[string, ConnectOptions, string]>([
  ['sqlite::memory:', { key: SECRET }, "'key' has no effect with the address of a store"],
  ['http://127.0.0.1:1', { key: SECRET, headers: { Authorization: 'x' } }, 'contradict each other'],
  ['http://127.0.0.1:1', { key: '' }, 'is empty'],
  ['http://127.0.0.1:1', { kye: SECRET } as ConnectOptions, "Did you mean 'key'?"],
])('connect(%j, %o) is refused without the key in the refusal', async (url, options, why) => {
  const error = await connect(url, options).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(why) });
  expect(inspect(error, { depth: 10 })).not.toContain(SECRET);
});

test('the first look at a server sends the key there, follows no redirect, and logs neither', async () => {
  const told = Promise.withResolvers<unknown[]>();
  const seen: [string, string | undefined][] = [];
  const server = createServer(({ url = '', headers }, response) => {
    seen.push([url, headers.authorization]);
    response.writeHead(302, { Location: '/elsewhere?token=s3cret' }).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const logger: Logger = { ...silentLogger, warn: (...line) => told.resolve(line) };
  const address = server.address() as { port: number };
  await connected(`http://127.0.0.1:${address.port}`, { key: SECRET, logger });
  const line = inspect(await told.promise, { depth: 10 });
  expect(line).toContain('Redirects are not followed');
  expect(line).not.toMatch(/S3cr3t|s3cret/);
  expect(seen).toEqual([['/health', `Bearer ${SECRET}`]]);
});
