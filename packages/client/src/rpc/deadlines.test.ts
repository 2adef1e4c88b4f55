import type { Events, Jobs } from '@waybill/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RemoteWaybill } from '../http/remote.ts';
import { rpcRemote } from './index.ts';
import { BAD_SERVERS, badServer } from './testing/bad-servers.ts';

type Call = (port: RemoteWaybill) => Promise<unknown>;
/** `absent`: no method of this client; `stream`: it goes on, and has tests of its own. */
type Case = Call | 'absent' | 'stream';

const ID = '01a1e4ae-a55c-74ee-8d26-dc2e3a61332a';
const request = { type: 'test.job', args: [] };
const held = { id: ID, leaseToken: '1.x' };

/** Over all methods, so that a new one does not compile without its case. */
const JOBS: Record<keyof Omit<Jobs, 'explain'>, Case> = {
  enqueue: ({ jobs }) => jobs.enqueue(request),
  enqueueMany: ({ jobs }) => jobs.enqueueMany([request]),
  get: ({ jobs }) => jobs.get(ID),
  list: ({ jobs }) => jobs.list({ limit: 1 }),
  claim: ({ jobs }) => jobs.claim({ queues: ['default'], waitMs: 50 }),
  heartbeat: ({ jobs }) => jobs.heartbeat({ workerId: 'w', jobs: [] }),
  settle: ({ jobs }) => jobs.settle({ ...held, outcome: { kind: 'completed', result: null } }),
  spend: ({ jobs }) => jobs.spend({ ...held, amounts: { usd: 1 } }),
  report: ({ jobs }) => jobs.report({ ...held, fraction: 0.5 }),
  progress: ({ jobs }) => jobs.progress(ID),
  append: ({ jobs }) => jobs.append({ ...held, entries: [{ sequence: 1, type: 'user.own' }] }),
  journal: ({ jobs }) => jobs.journal(ID),
  follow: 'stream',
  ask: ({ jobs }) => jobs.ask({ ...held, key: 'k', text: 'Go on?' }),
  cancel: ({ jobs }) => jobs.cancel(ID),
  retry: ({ jobs }) => jobs.retry(ID),
  activate: ({ jobs }) => jobs.activate(ID),
  urls: 'absent',
};
const EVENTS: Record<keyof Events, Case> = {
  read: ({ events }) => events.read({ limit: 1 }),
  end: ({ events }) => events.end(),
  follow: 'stream',
};
const CALLS = Object.entries({ ...JOBS, ...EVENTS, health: (port: RemoteWaybill) => port.health() }).flatMap(
  ([name, its]) => (typeof its === 'string' ? [] : [[name, its] as const]),
);

/** Far longer than the deadlines of all attempts together, and far shorter than those of the platform. */
const TEST_MS = 30_000;

async function refusalOf(its: Call, client: RemoteWaybill) {
  const refused = await its(client).then(
    () => null,
    (error: unknown) => error as { code: string },
  );
  expect(['timeout', 'unavailable']).toContain(refused?.code);
  return refused;
}

describe.each(Object.entries(BAD_SERVERS))('a server that %s', (_name, make) => {
  test(
    'every call is given up in time, and its error names the server',
    async () => {
      const { url } = await badServer(make);
      const client = rpcRemote(url, { timeoutMs: 60, sleep: async () => {} });
      onTestFinished(() => client.close());
      for (const [, its] of CALLS)
        expect(await refusalOf(its, client)).toMatchObject({
          ...{ name: 'WaybillError', retryable: true, message: expect.stringContaining(url) },
        });
    },
    TEST_MS,
  );

  test(
    'close waits for a call under way no longer than its deadline',
    async () => {
      const { url } = await badServer(make);
      const client = rpcRemote(url, { timeoutMs: 60, sleep: async () => {} });
      const called = client.jobs.list().catch((error: unknown) => error);
      await client.close();
      expect(await called).toMatchObject({ retryable: true });
      await expect(client.jobs.list()).rejects.toMatchObject({ message: 'This client was closed.' });
    },
    TEST_MS,
  );

  test.each(['events', 'journal'] as const)(
    'following its %s is not silent, goes on, and ends when it is told to',
    async (what) => {
      const { url } = await badServer(make);
      const [stop, enough] = [new AbortController(), Promise.withResolvers<void>()];
      let waits = 0;
      const lines: object[] = [];
      const logger = {
        info: () => {},
        warn: (fields: object, message: string) => void lines.push({ ...fields, message }),
      };
      const sleep = async () => {
        waits += 1;
        if (waits === 5) enough.resolve();
      };
      const client = rpcRemote(url, { timeoutMs: 50, sleep, logger, headers: { authorization: 'Bearer s3cret' } });
      onTestFinished(() => client.close());
      const { signal } = stop;
      const stream = what === 'events' ? client.events.follow({ signal }) : client.jobs.follow(ID, { signal });
      const next = stream[Symbol.asyncIterator]().next();
      await enough.promise;
      stop.abort();
      expect(await next).toEqual({ done: true, value: undefined });
      expect(lines).toMatchObject([{ server: url, failures: 1, message: expect.stringContaining(url) }]);
      expect(JSON.stringify(lines)).not.toContain('s3cret');
    },
    TEST_MS,
  );
});

test('all attempts of a call share one deadline, and no pause leads beyond it', async () => {
  const { url, connections } = await badServer(BAD_SERVERS['resets the connection at the first byte']!);
  const pauses: number[] = [];
  const client = (timeoutMs: number) => {
    const made = rpcRemote(url, { timeoutMs, sleep: async (ms) => void pauses.push(ms) });
    onTestFinished(() => made.close());
    return made;
  };
  await expect(client(30_000).jobs.list()).rejects.toMatchObject({ code: 'unavailable' });
  expect([pauses.length, connections()]).toEqual([3, 4]);
  pauses.length = 0;
  // The first pause is 50 ms at least.
  await expect(client(40).jobs.list()).rejects.toMatchObject({ code: 'unavailable' });
  expect(pauses).toEqual([]);
});

test('what is not idempotent is sent once', async () => {
  const { url, connections } = await badServer(BAD_SERVERS['resets the connection at the first byte']!);
  const client = rpcRemote(url, { sleep: async () => {} });
  onTestFinished(() => client.close());
  for (const call of [
    client.jobs.cancel(ID),
    client.jobs.settle({ id: ID, outcome: { kind: 'completed', result: 1 } }),
  ])
    await expect(call).rejects.toMatchObject({ code: 'unavailable' });
  expect(connections()).toBeLessThanOrEqual(2);
});

test('a call that takes long is told of while it waits', async () => {
  const { url } = await badServer(BAD_SERVERS['speaks HTTP/2 and never answers']!);
  const told = Promise.withResolvers<void>();
  const client = rpcRemote(url, { timeoutMs: TEST_MS, slow: { afterMs: 20, tell: told.resolve } });
  const away = new AbortController();
  const claimed = client.jobs.claim({ queues: ['default'], signal: away.signal, waitMs: 10 }).catch(() => null);
  await told.promise;
  const closed = client.close();
  away.abort();
  await Promise.all([claimed, closed]);
});

test('a port of HTTP/1.1 and another server are told apart from one that is away', async () => {
  const messageOf = async (name: string) => {
    const { url } = await badServer(BAD_SERVERS[name]!);
    const client = rpcRemote(url, { sleep: async () => {} });
    onTestFinished(() => client.close());
    return client.jobs.list().catch((error: { message: string; hint?: string }) => `${error.message} ${error.hint}`);
  };
  expect(await messageOf('speaks HTTP/1.1')).toMatch(/does not speak HTTP\/2.*--grpc-port/);
  expect(await messageOf('is another server')).toMatch(/is no Waybill server.*--grpc-port/);
});

test.each([
  ['http://h:1', 'grpc://localhost:9090'],
  ['grpc://h', 'must name its port'],
  ['grpc://u:s3cret@h:1', 'must not hold credentials'],
  ['grpc://h:1/path', 'must not have a path'],
  ['grpc://h:1?token=s3cret', 'must not have a path or parameters'],
  ['grpc:h:1', 'grpc://localhost:9090'],
])('the address %s is refused', (address, why) => {
  let refused: unknown;
  try {
    rpcRemote(address);
  } catch (error) {
    refused = error;
  }
  expect(refused).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(why) });
  expect(String(refused)).not.toContain('s3cret');
});

test('what the RPC interface does not have is refused with what to use', async () => {
  const client = rpcRemote('grpc://127.0.0.1:1');
  const calls = [client.queues.list(), client.crons.list(), client.workers.list(), client.webhooks.list()];
  for (const call of calls)
    await expect(call).rejects.toMatchObject({ code: 'unsupported', hint: expect.stringContaining('http://') });
  await client.close();
});

test('what cannot be sent is refused before it is', async () => {
  const { jobs } = rpcRemote('grpc://127.0.0.1:1', { sleep: async () => {} });
  const loop: unknown[] = [];
  loop.push(loop);
  await expect(jobs.enqueue({ type: 'a.b', args: loop as never })).rejects.toMatchObject({ code: 'invalid_payload' });
  const invalid = { code: 'invalid_request' };
  await expect(jobs.enqueue({ type: 'a.b', args: [] }, { idempotencyKey: 'x\n' })).rejects.toMatchObject(invalid);
  await expect(jobs.claim({ queues: [] })).rejects.toMatchObject(invalid);
  await expect(jobs.list({ filter: { states: [] } })).rejects.toMatchObject(invalid);
  const within = { query: async () => ({ rows: [] }) };
  await expect(jobs.enqueue(request, { within })).rejects.toMatchObject({ code: 'unsupported' });
});
