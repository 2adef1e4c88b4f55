import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { type RemoteOptions, remote } from './index.ts';

const SECRET = 'wb_abcdefghjkmn_S3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3c';

async function listening(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    answer(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, seen };
}

const client = (url: string, options: RemoteOptions = {}) => {
  const waybill = remote(url, { key: SECRET, sleep: async () => {}, ...options });
  onTestFinished(() => waybill.close());
  return waybill;
};

/** Everything that a log could show of it. */
const textOf = (error: unknown): string => inspect(error, { depth: 10, showHidden: true });

test('a key goes with every call and every stream, as a bearer token', async () => {
  const { url, seen } = await listening((_, response) => response.end('{"queues":[]}'));
  const { queues, events } = client(url);
  await queues.list();
  const follow = events.follow({ signal: new AbortController().signal });
  await expect(follow[Symbol.asyncIterator]().next()).rejects.toThrow();
  expect(seen.map(({ authorization }) => authorization)).toEqual([`Bearer ${SECRET}`, `Bearer ${SECRET}`]);
});

test.each([301, 302, 307, 308])('a redirect with %i is an error, and the key goes nowhere else', async (status) => {
  const other = await listening((_, response) => response.end('{"queues":[]}'));
  const first = await listening((_, response) =>
    response.writeHead(status, { Location: `${other.url}/pre-signed?token=s3cret` }).end('moved'),
  );
  const waybill = client(first.url, { headers: { 'X-Extra': 'also secret' } });
  const calls = [() => waybill.queues.list(), () => waybill.queues.pause('a'), () => waybill.jobs.cancel('x')];
  for (const call of calls) {
    const error = await call().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining(`status ${status}`) });
    expect((error as { hint: string }).hint).toContain(`It leads to ${other.url}.`);
    for (const secret of [SECRET, 's3cret', 'also secret']) expect(textOf(error)).not.toContain(secret);
  }
  const follow = waybill.events.follow({ signal: new AbortController().signal });
  await expect(follow[Symbol.asyncIterator]().next()).rejects.toThrow();
  expect(other.seen).toEqual([]);
  expect(first.seen.length).toBeGreaterThan(0);
});

test.each<[string, unknown, Record<string, string>, string]>([
  ['an empty key', '', {}, 'is empty'],
  ['a key with a line break', `${SECRET}\n`, {}, 'printable ASCII'],
  ['a key with a space', `Bearer ${SECRET}`, {}, 'no space'],
  ['no text', 7, {}, 'must be a string'],
  ['null', null, {}, 'must be a string'],
  ['an Authorization header beside it', SECRET, { authorization: `Basic ${SECRET}` }, 'contradict'],
  ['another header of a key beside it', SECRET, { 'X-API-Key': SECRET }, 'contradict'],
])('%s is refused before anything is sent, and not quoted', (_, key, headers, why) => {
  let error: unknown;
  try {
    remote('http://127.0.0.1:1', { key: key as string, headers });
  } catch (reason) {
    error = reason;
  }
  expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(why) });
  expect(textOf(error)).not.toContain(SECRET);
});

test('a header that cannot be sent is named without its value', () => {
  let error: unknown;
  try {
    remote('http://127.0.0.1:1', { headers: { Accept: 'a', Authorization: `Bearer ${SECRET}\nx` } });
  } catch (reason) {
    error = reason;
  }
  expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining("'Authorization'") });
  expect(textOf(error)).not.toContain(SECRET);
});

test.each([
  ['away', 'http://127.0.0.1:1'],
  ['asked to be a Waybill server', undefined],
])('an error of a server that is %s does not have the key', async (_, away) => {
  const url = away ?? (await listening((_request, response) => response.writeHead(401).end('who?'))).url;
  const waybill = client(url);
  const error = await waybill.queues.list().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Error);
  expect(textOf([error, waybill])).not.toContain(SECRET);
});
