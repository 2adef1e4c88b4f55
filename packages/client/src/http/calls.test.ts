import { expect, test } from 'vitest';
import { remote } from './index.ts';

const answering =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  () =>
    new Response(body, { status, headers });

const client = (fetch: (url: string, init: RequestInit) => Response | Promise<Response>, options = {}) =>
  remote('http://waybill.test/base/', { fetch, sleep: async () => {}, ...options });

test('headers go with every call, and the address keeps its path', async () => {
  const seen: [string, Headers][] = [];
  const { queues } = client(
    (url, init) => {
      seen.push([url, new Headers(init.headers)]);
      return new Response('{"queues":[]}');
    },
    { headers: { Authorization: 'Bearer x' } },
  );
  expect(await queues.list()).toEqual([]);
  const [url, headers] = seen[0]!;
  expect([url, headers.get('authorization')]).toEqual(['http://waybill.test/base/ojs/v1/queues', 'Bearer x']);
  expect(() => remote('http://waybill.test', { headers: { 'a b': 'c' } })).toThrow(/headers/);
});

test('M4: a server that does not answer in time is given up, and its time is not given again to a repetition', async () => {
  let calls = 0;
  const silent = (_url: string, { signal }: RequestInit) => {
    calls += 1;
    return new Promise<Response>((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  };
  const { queues } = client(silent, { timeoutMs: 1 });
  await expect(queues.list()).rejects.toMatchObject({ code: 'timeout', retryable: true });
  expect(calls).toBe(1);
  await expect(queues.pause('a')).rejects.toMatchObject({ code: 'timeout' });
  expect(calls).toBe(2);
});

test('M5: what is not from a Waybill server is told from what is', async () => {
  const page = '<html>welcome</html>';
  for (const status of [200, 302, 400, 404, 405, 500]) {
    const refusal = {
      code: 'unavailable',
      message: `What answered at http://waybill.test/base with status ${status} is no Waybill server.`,
      hint: 'Check the port and the path in the address.',
    };
    await expect(client(answering(status, page)).queues.list()).rejects.toMatchObject(refusal);
  }
  await expect(client(answering(404, '{"message":"no route"}')).jobs.get('x')).rejects.toMatchObject({
    code: 'unavailable',
  });
  await expect(client(answering(401, page)).queues.list()).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(client(answering(502, page)).queues.list()).rejects.toMatchObject({ code: 'unavailable' });
  await expect(client(answering(503, page)).health()).rejects.toMatchObject({ code: 'unavailable' });
  const follow = client(answering(200, page)).events.follow({ signal: new AbortController().signal });
  await expect(follow[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'internal' });
});

test('a store that is away is an answer about health', async () => {
  const body = { status: 'degraded', backend: { type: 'sqlite', status: 'unhealthy', latency_ms: 3 } };
  expect(await client(answering(503, JSON.stringify(body))).health()).toEqual({
    status: 'degraded',
    store: { name: 'sqlite', status: 'unhealthy', latencyMs: 3 },
  });
});

test('what cannot be sent is refused before it is', async () => {
  const { jobs } = client(() => {
    throw new Error('It was sent.');
  });
  const loop: unknown[] = [];
  loop.push(loop);
  await expect(jobs.enqueue({ type: 'a.b', args: loop as never })).rejects.toMatchObject({ code: 'invalid_payload' });
  for (const idempotencyKey of ['', 'caf\u00e9', 'x\n', 'x'.repeat(256)])
    await expect(jobs.enqueue({ type: 'a.b', args: [] }, { idempotencyKey })).rejects.toMatchObject({
      code: 'invalid_request',
    });
});

test('a transaction of the caller is refused before anything is sent, and the refusal says what to do', async () => {
  const { jobs, workflows } = client(() => {
    throw new Error('Something was sent.');
  });
  const within = { query: async () => ({ rows: [] }) };
  const request = { type: 'test.job', args: [] };
  const refused = { code: 'unsupported', hint: expect.stringContaining('PostgreSQL') };
  await expect(jobs.enqueue(request, { within })).rejects.toMatchObject(refused);
  await expect(jobs.enqueueMany([request], { within })).rejects.toMatchObject(refused);
  await expect(workflows.create({ type: 'chain', steps: [request] }, { within })).rejects.toMatchObject(refused);
  const outcome = { kind: 'completed', result: null } as const;
  await expect(jobs.settle({ id: 'x', outcome, within })).rejects.toMatchObject(refused);
});
