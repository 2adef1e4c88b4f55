import type { DeadLetters, DeadMessages, Keys, Waybill } from '@waybill/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type RemoteWaybill, type RemoteWebhooks, remote } from './index.ts';
import { BAD_SERVERS, badServer } from './testing/bad-servers.ts';

type Verb = (...args: never[]) => unknown;
type Groups = { [G in keyof Waybill as Waybill[G] extends Verb ? never : G]-?: Required<NonNullable<Waybill[G]>> };

/** The whole port, optional methods and the group inside of a group included. */
interface Port extends Omit<Groups, 'deadLetters' | 'keys'> {
  deadLetters: Omit<Required<DeadLetters>, 'messages'>;
  /** Sessions are for the server itself. */
  keys: Omit<Required<Keys>, 'sessions' | 'taskTokens'>;
  messages: DeadMessages;
  webhooks: RemoteWebhooks;
  waybill: Omit<Waybill, keyof Groups>;
}

type Call = (port: RemoteWaybill) => Promise<unknown>;
/**
 * A call; `absent`: no method of a remote client; `stream`: it goes on for ever, and has tests of its own; `refused`: it
 * is there and asks no server.
 */
type Case = Call | 'absent' | 'stream' | 'refused';

const ID = '01a1e4ae-a55c-74ee-8d26-dc2e3a61332a';
const request = { type: 'test.job', args: [] };
const rule = { concurrency: 2, rate: null };
const webhook = { url: 'https://example.com/' };
const node = { id: 'a', ...request };

/** Over all methods, so that a new one does not compile without its case. */
const CASES: { [G in keyof Port]: { [M in keyof Port[G]]: Case } } = {
  jobs: {
    enqueue: ({ jobs }) => jobs.enqueue(request),
    enqueueMany: ({ jobs }) => jobs.enqueueMany([request]),
    get: ({ jobs }) => jobs.get(ID),
    explain: ({ jobs }) => jobs.explain(ID),
    list: ({ jobs }) => jobs.list({ limit: 1 }),
    claim: ({ jobs }) => jobs.claim({ queues: ['default'], waitMs: 50 }),
    heartbeat: ({ jobs }) => jobs.heartbeat({ workerId: 'w', jobs: [] }),
    settle: ({ jobs }) => jobs.settle({ id: ID, leaseToken: '1.x', outcome: { kind: 'completed', result: null } }),
    spend: ({ jobs }) => jobs.spend({ id: ID, leaseToken: '1.x', amounts: { usd: 1 } }),
    report: ({ jobs }) => jobs.report({ id: ID, leaseToken: '1.x', fraction: 0.5 }),
    progress: ({ jobs }) => jobs.progress(ID),
    append: ({ jobs }) => jobs.append({ id: ID, leaseToken: '1.x', entries: [{ sequence: 1, type: 'note' }] }),
    journal: ({ jobs }) => jobs.journal(ID),
    follow: 'stream',
    ask: ({ jobs }) => jobs.ask({ id: ID, leaseToken: '1.x', key: 'k', text: 'Go on?' }),
    cancel: ({ jobs }) => jobs.cancel(ID),
    retry: ({ jobs }) => jobs.retry(ID),
    activate: ({ jobs }) => jobs.activate(ID),
    urls: 'absent',
  },
  deadLetters: {
    list: ({ deadLetters }) => deadLetters.list({ limit: 1 }),
    get: ({ deadLetters }) => deadLetters.get(ID),
    replay: ({ deadLetters }) => deadLetters.replay(ID),
    discard: ({ deadLetters }) => deadLetters.discard(ID),
    replayMany: ({ deadLetters }) => deadLetters.replayMany({}),
    discardMany: ({ deadLetters }) => deadLetters.discardMany({}),
    stats: ({ deadLetters }) => deadLetters.stats(),
  },
  questions: {
    list: ({ questions }) => questions.list(),
    get: ({ questions }) => questions.get(`${ID}.0123456789ab`),
    answer: ({ questions }) => questions.answer(`${ID}.0123456789ab`, { text: 'Yes.' }),
  },
  messages: { list: 'absent', replay: 'absent' },
  queues: {
    list: ({ queues }) => queues.list(),
    stats: ({ queues }) => queues.stats('q'),
    pause: ({ queues }) => queues.pause('q'),
    resume: ({ queues }) => queues.resume('q'),
    setLimit: ({ queues }) => queues.setLimit('q', rule),
    setKeep: ({ queues }) => queues.setKeep('q', 'none'),
  },
  limits: { get: ({ limits }) => limits.get('k'), set: ({ limits }) => limits.set('k', rule) },
  tenants: {
    list: ({ tenants }) => tenants.list(),
    get: ({ tenants }) => tenants.get('t'),
    stats: ({ tenants }) => tenants.stats('t'),
    setLimits: ({ tenants }) => tenants.setLimits('t', { concurrency: 1 }),
  },
  budgets: {
    set: ({ budgets }) => budgets.set({ unit: 'usd', period: 'day', limit: 1 }),
    list: ({ budgets }) => budgets.list(),
    get: ({ budgets }) => budgets.get('usd:day'),
    remove: ({ budgets }) => budgets.remove('usd:day'),
  },
  checks: { run: ({ checks }) => checks.run(), job: ({ checks }) => checks.job(ID), round: 'absent' },
  records: { get: 'absent', list: 'absent', put: 'absent', remove: 'absent' },
  audit: { record: 'absent' },
  keys: {
    create: ({ keys }) => keys!.create({ name: 'k', scopes: ['read'] }),
    list: ({ keys }) => keys!.list(),
    get: ({ keys }) => keys!.get('k'),
    rotate: ({ keys }) => keys!.rotate('k'),
    revoke: ({ keys }) => keys!.revoke('k'),
    identify: 'refused',
  },
  sinks: {
    run: 'absent',
    tenantsWith: 'absent',
    open: 'absent',
    state: 'absent',
    pause: 'absent',
    resume: 'absent',
    moveTo: 'absent',
  },
  webhooks: {
    create: ({ webhooks }) => webhooks.create(webhook),
    put: ({ webhooks }) => webhooks.put('w', webhook),
    list: ({ webhooks }) => webhooks.list({ limit: 1 }),
    get: ({ webhooks }) => webhooks.get('w'),
    remove: ({ webhooks }) => webhooks.remove('w'),
    pause: ({ webhooks }) => webhooks.pause('w'),
    resume: ({ webhooks }) => webhooks.resume('w'),
    rotateSecret: ({ webhooks }) => webhooks.rotateSecret('w'),
    test: ({ webhooks }) => webhooks.test('w'),
    redeliver: ({ webhooks }) => webhooks.redeliver('w', { event_id: 'e' }),
  },
  crons: {
    put: ({ crons }) => crons.put({ name: 'c', expression: '@hourly', job_template: request }),
    get: ({ crons }) => crons.get('c'),
    list: ({ crons }) => crons.list(),
    setEnabled: ({ crons }) => crons.setEnabled('c', false),
    remove: ({ crons }) => crons.remove('c'),
  },
  workflows: {
    create: ({ workflows }) => workflows.create({ nodes: [node] }),
    get: ({ workflows }) => workflows.get(ID),
    list: ({ workflows }) => workflows.list({ limit: 1 }),
    nodes: ({ workflows }) => workflows.nodes(ID, { limit: 1 }),
    addNodes: ({ workflows }) => workflows.addNodes(ID, [node]),
    cancel: ({ workflows }) => workflows.cancel(ID),
    signal: ({ workflows }) => workflows.signal(ID, 'paid', 1),
    approve: ({ workflows }) => workflows.approve(ID, 'draft'),
    requestRevision: ({ workflows }) => workflows.requestRevision(ID, 'draft', { feedback: 'Shorter.' }),
    resume: ({ workflows }) => workflows.resume(ID),
  },
  workers: { list: ({ workers }) => workers.list(), direct: ({ workers }) => workers.direct('w', 'quiet') },
  events: { read: ({ events }) => events.read({ limit: 1 }), end: ({ events }) => events.end(), follow: 'stream' },
  waybill: { health: (port) => port.health(), close: 'stream' },
};

const all = Object.entries(CASES).flatMap(([group, methods]) =>
  Object.entries(methods as Record<string, Case>).map(([method, its]) => ({ group, method, its })),
);

test('the client has the methods that the table says it has, and no others', () => {
  const client = remote('http://127.0.0.1:1') as unknown as Record<string, Record<string, unknown> | Verb>;
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
  const calls = all.flatMap(({ group, method, its }) =>
    typeof its === 'string' ? [] : [[`${group}.${method}`, its] as const],
  );

  test.each(calls)(
    '%s is given up in time, and the error names the server',
    async (_call, its) => {
      const { url } = await badServer(behaviour);
      const client = remote(url, { timeoutMs: 60, sleep: async () => {} });
      onTestFinished(() => client.close());
      const refused = await its(client).then(
        () => null,
        (error: unknown) => error,
      );
      expect(refused).toMatchObject({ name: 'WaybillError', retryable: true, message: expect.stringContaining(url) });
      expect(['timeout', 'unavailable']).toContain((refused as { code: string }).code);
    },
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
