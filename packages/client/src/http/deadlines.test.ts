import { describe, expect, onTestFinished, test } from 'vitest';
import { remote } from './index.ts';
import { BAD_SERVERS, badServer } from './testing/bad-servers.ts';
import { all, calls, expectGivenUp } from './testing/every-call.ts';

test('the client has the methods that the table says it has, and no others', () => {
  const client = remote('http://127.0.0.1:1') as unknown as Record<string, Record<string, unknown> | (() => unknown)>;
  const found = Object.entries(client).flatMap(([group, methods]) =>
    typeof methods === 'function' ? [`waybill.${group}`] : Object.keys(methods).map((method) => `${group}.${method}`),
  );
  const known = all.filter(({ its }) => its !== 'absent').map(({ group, method }) => `${group}.${method}`);
  expect(found.sort()).toEqual(known.sort());
});

/** Far longer than the deadlines of all attempts together, and far shorter than those of the platform. */
const TEST_MS = 30_000;

/** Long enough that a busy machine is not late by as much again; four attempts with a deadline each would be. */
const TOTAL_MS = 1_000;

describe.each(Object.entries(BAD_SERVERS))('a server that %s', (_name, behaviour) => {
  test.each(calls)(
    '%s is given up in time, and the error names the server',
    (_call, its) => expectGivenUp(behaviour, its),
    TEST_MS,
  );

  test(
    'M4: all attempts of a call share one deadline',
    async () => {
      const { url } = await badServer(behaviour);
      const client = remote(url, { timeoutMs: TOTAL_MS });
      onTestFinished(() => client.close());
      const begun = performance.now();
      await expect(client.queues.list()).rejects.toMatchObject({ retryable: true });
      expect(performance.now() - begun).toBeLessThan(2 * TOTAL_MS);
    },
    TEST_MS,
  );

  test(
    'close waits for a call under way no longer than its deadline',
    async () => {
      const { url } = await badServer(behaviour);
      const client = remote(url, { timeoutMs: 60, sleep: async () => {} });
      const called = client.queues.list().catch((error: unknown) => error);
      await client.close();
      expect(await called).toMatchObject({ retryable: true });
    },
    TEST_MS,
  );
});

test('a fetch that takes no notice of its signal is given up in time too', async () => {
  const client = remote('http://waybill.test', {
    timeoutMs: 20,
    sleep: async () => {},
    fetch: () => new Promise(() => {}),
  });
  const stuck = remote('http://waybill.test', {
    timeoutMs: 20,
    sleep: async () => {},
    fetch: () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) })),
  });
  for (const { queues } of [client, stuck])
    await expect(queues.list()).rejects.toMatchObject({ code: 'timeout', message: expect.stringContaining('20 ms') });
});

test('M4: what fails at once is tried again until the deadline, and no pause leads beyond it', async () => {
  const pauses: number[] = [];
  const failing = (timeoutMs: number) =>
    remote('http://waybill.test', {
      timeoutMs,
      sleep: async (ms) => void pauses.push(ms),
      fetch: () => Promise.reject(new TypeError('fetch failed')),
    });
  await expect(failing(30_000).queues.list()).rejects.toMatchObject({ code: 'unavailable' });
  expect(pauses).toHaveLength(3);
  pauses.length = 0;
  // The first pause is 50 ms at least.
  await expect(failing(40).queues.list()).rejects.toMatchObject({ code: 'unavailable' });
  expect(pauses).toEqual([]);
});

test('M4: a call that takes long is told of while it waits', async () => {
  const { url } = await badServer(() => {});
  const told = Promise.withResolvers<void>();
  const client = remote(url, { timeoutMs: TEST_MS, slow: { afterMs: 20, tell: told.resolve } });
  const away = new AbortController();
  const claimed = client.jobs.claim({ queues: ['default'], signal: away.signal, waitMs: 10 }).catch(() => null);
  await told.promise;
  const closed = client.close();
  away.abort();
  await Promise.all([claimed, closed]);
});
