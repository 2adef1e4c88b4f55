import type { DeadLetters, DeadMessages, Keys, Waybill } from '@waybill/core';
import { expect, onTestFinished } from 'vitest';
import { type RemoteWaybill, type RemoteWebhooks, remote } from '../index.ts';
import { type Behaviour, badServer } from './bad-servers.ts';

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
  checks: { run: ({ checks }) => checks.run(), job: ({ checks }) => checks.job(ID), round: 'absent' },
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

export const all = Object.entries(CASES).flatMap(([group, methods]) =>
  Object.entries(methods as Record<string, Case>).map(([method, its]) => ({ group, method, its })),
);

/** Those that ask a server once. */
export const calls = all.flatMap(({ group, method, its }) =>
  typeof its === 'string' ? [] : [[`${group}.${method}`, its] as const],
);

/** It is given up in time, and the error names the server. */
export async function expectGivenUp(behaviour: Behaviour, call: Call): Promise<void> {
  const { url } = await badServer(behaviour);
  const client = remote(url, { timeoutMs: 60, sleep: async () => {} });
  onTestFinished(() => client.close());
  const refused = await call(client).then(
    () => null,
    (error: unknown) => error,
  );
  expect(refused).toMatchObject({ name: 'WaybillError', retryable: true, message: expect.stringContaining(url) });
  expect(['timeout', 'unavailable']).toContain((refused as { code: string }).code);
}
