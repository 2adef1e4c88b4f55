import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { LoggedEvent } from '../events/job-event.ts';
import type { DeadLetters, DeadMessages, Keys, Waybill } from '../waybill.ts';
import { audited, type DoneCall } from './audit/audited.ts';
import { type Principal, SCOPES } from './principal.ts';
import { inTenant, scoped } from './scoped.ts';
import { BUDGET_CASES } from './testing/budget-cases.ts';
import { A, about, type Case, type Expected, FORBIDDEN } from './testing/case.ts';
import { CHECK_CASES } from './testing/check-cases.ts';
import { DEAD_LETTER_CASES, MESSAGE_CASES } from './testing/dead-letter-cases.ts';
import { JOURNAL_CASES } from './testing/journal-cases.ts';
import { KEY_CASES } from './testing/key-cases.ts';
import { QUESTION_CASES } from './testing/question-cases.ts';
import { RECORD_CASES } from './testing/record-cases.ts';
import { SINK_CASES } from './testing/sink-cases.ts';
import { TENANT_CASES } from './testing/tenant-cases.ts';
import { makeWorld, node, request, type World } from './testing/world.ts';

type Verb = (...args: never[]) => unknown;
type Groups = { [G in keyof Waybill as Waybill[G] extends Verb ? never : G]-?: Required<NonNullable<Waybill[G]>> };

/** The whole port, optional methods and the group inside of a group included. */
interface Port extends Omit<Groups, 'deadLetters' | 'keys'> {
  deadLetters: Omit<Required<DeadLetters>, 'messages'>;
  /** Sessions are for the server itself. */
  keys: Omit<Required<Keys>, 'sessions' | 'taskTokens'>;
  messages: DeadMessages;
  waybill: Omit<Waybill, keyof Groups>;
}

const completed = { kind: 'completed', result: null } as const;
const beat = (world: World) => ({ workerId: 'w1', jobs: [{ id: world.lease.job.id, leaseToken: world.lease.token }] });
const held = ({ lease }: World) => ({ id: lease.job.id, leaseToken: lease.token });
const cron = { name: 'nightly', expression: '@hourly', job_template: request() };
const rule = { concurrency: 2, rate: null };

async function first(port: Waybill, _: World, filter: { tenant?: string }): Promise<LoggedEvent | undefined> {
  const { signal } = new AbortController();
  for await (const event of port.events.follow({ filter, signal })) return event;
  return undefined;
}

/** Over all methods, so that a new one does not compile without its case. */
const CASES: { [G in keyof Port]: { [M in keyof Port[G]]: Case } } = {
  jobs: {
    enqueue: about(
      'enqueue',
      ({ jobs }, _, at) => jobs.enqueue(request(), at),
      () => ({ created: true, job: { tenant: 'a' } }),
      {
        ...{ stranger: () => ({ job: { tenant: 'b' } }), narrowed: FORBIDDEN },
      },
    ),
    enqueueMany: about(
      'enqueue',
      ({ jobs }, _, at) => jobs.enqueueMany([request()], at),
      () => [{ tenant: 'a' }],
      {
        ...{ stranger: () => [{ tenant: 'b' }], narrowed: FORBIDDEN },
      },
    ),
    get: about('read', ({ jobs }, { job }, at) => jobs.get(job.id, at)),
    explain: about(
      'read',
      ({ jobs }, { job }, at) => jobs.explain(job.id, at),
      ({ job }) => ({ jobId: job.id }),
    ),
    list: about(
      'read',
      ({ jobs }, _, filter) => jobs.list({ filter, limit: 1 }),
      ({ other }) => ({ items: [{ id: other.id }] }),
      {
        stranger: ({ foreign }) => ({ items: [{ id: foreign.id }] }),
        narrowed: ({ other }) => ({ items: [{ id: other.id }] }),
      },
    ),
    claim: about(
      'work',
      ({ jobs }, _, at) => jobs.claim({ queues: ['mine'], ...at }),
      ({ job }) => [{ job: { id: job.id } }],
      {
        ...{ stranger: ({ foreign }) => [{ job: { id: foreign.id } }], narrowed: FORBIDDEN },
      },
    ),
    heartbeat: about(
      'work',
      ({ jobs }, world, at) => jobs.heartbeat({ ...beat(world), ...at }),
      () => ({ lost: [], extended: [{}] }),
      {
        stranger: ({ lease }) => ({ lost: [lease.job.id], extended: [] }),
        narrowed: ({ lease }) => ({ lost: [lease.job.id], extended: [] }),
      },
    ),
    settle: about('work', ({ jobs }, world, at) => jobs.settle({ ...held(world), ...at, outcome: completed })),
    report: about('work', ({ jobs }, world, at) => jobs.report({ ...held(world), ...at, fraction: 0.5 })),
    ask: about('work', ({ jobs }, world, at) => jobs.ask({ ...held(world), ...at, key: 'two', text: 'Go on?' })),
    spend: about(
      'work',
      ({ jobs }, world, at) => jobs.spend({ ...held(world), ...at, amounts: { pages: 1 }, key: 'k' }),
      () => ({ budgets: [{ id: 'pages:day:k', spent: 1 }], exceeded: [] }),
    ),
    progress: about(
      'read',
      ({ jobs }, { job }, at) => jobs.progress(job.id, at),
      () => null,
    ),
    cancel: about('enqueue', ({ jobs }, { job }, at) => jobs.cancel(job.id, at)),
    activate: about('enqueue', ({ jobs }, { pending }, at) => jobs.activate(pending.id, at)),
    retry: about('admin', ({ jobs }, { dead }, at) => jobs.retry(dead.id, at)),
    ...JOURNAL_CASES,
    urls: about(
      'read',
      // As an engine gives it to whoever may read it.
      async ({ jobs }, { waybill, job }) =>
        jobs.urls!(await waybill.jobs.get(job.id, { tenant: 'a' }), { overBytes: 1 }),
      () => ({ args: expect.stringContaining('https://blobs.example/') }),
      { takesNone: true },
    ),
  },
  deadLetters: DEAD_LETTER_CASES,
  messages: MESSAGE_CASES,
  queues: {
    list: about(
      'read',
      ({ queues }, _, at) => queues.list(at),
      () => [{ name: 'mine' }, { name: 'other' }],
      {
        ...{ stranger: () => [{ tenant: 'b', name: 'mine' }], narrowed: () => [{ name: 'other' }] },
      },
    ),
    stats: about(
      'read',
      ({ queues }, _, at) => queues.stats('mine', at),
      () => ({ active: 1, discarded: 1 }),
      {
        stranger: () => ({ tenant: 'b', available: 1, active: 0 }),
      },
    ),
    pause: about('admin', ({ queues }, _, at) => queues.pause('mine', at), A, { stranger: () => ({ tenant: 'b' }) }),
    resume: about('admin', ({ queues }, _, at) => queues.resume('mine', at), A, { stranger: () => ({ tenant: 'b' }) }),
    setLimit: about('admin', ({ queues }, _, at) => queues.setLimit('mine', rule, at), A, {
      stranger: () => ({ tenant: 'b' }),
    }),
    setKeep: about('admin', ({ queues }, _, at) => queues.setKeep('mine', 'none', at), A, {
      stranger: () => ({ tenant: 'b' }),
    }),
  },
  limits: {
    get: about('read', ({ limits }, _, at) => limits.get('api', at), A, { narrowed: FORBIDDEN }),
    set: about('admin', ({ limits }, _, at) => limits.set('api', rule, at), A, {
      ...{ stranger: () => ({ tenant: 'b' }), narrowed: FORBIDDEN },
    }),
  },
  questions: QUESTION_CASES,
  records: RECORD_CASES,
  keys: KEY_CASES,
  tenants: TENANT_CASES,
  budgets: BUDGET_CASES,
  audit: {
    record: {
      ...{ scope: null, takesNone: true, right: FORBIDDEN, stranger: FORBIDDEN, narrowed: FORBIDDEN },
      call: ({ audit }) => audit!.record({ principal: 'eve', action: 'queues.pause', outcome: 'ok' }),
    },
  },
  sinks: SINK_CASES,
  crons: {
    put: about('admin', ({ crons }, _, at) => crons.put(cron, at), A, {
      stranger: () => ({ tenant: 'b' }),
      narrowed: FORBIDDEN,
    }),
    get: about('read', ({ crons }, _, at) => crons.get('nightly', at)),
    list: about(
      'read',
      ({ crons }, _, at) => crons.list(at),
      () => [{ name: 'nightly' }],
      {
        ...{ stranger: () => [], narrowed: () => [] },
      },
    ),
    setEnabled: about('admin', ({ crons }, _, at) => crons.setEnabled('nightly', false, at)),
    remove: about('admin', ({ crons }, _, at) => crons.remove('nightly', at)),
  },
  workflows: {
    create: about('enqueue', ({ workflows }, _, at) => workflows.create({ nodes: [node('x')] }, at), A, {
      ...{ stranger: () => ({ tenant: 'b' }), narrowed: FORBIDDEN },
    }),
    get: about('read', ({ workflows }, { flow }, at) => workflows.get(flow, at)),
    list: about(
      'read',
      ({ workflows }, _, at) => workflows.list({ ...at, limit: 9 }),
      ({ flow, gated }) => ({ items: [{ id: flow }, { id: gated }] }),
      {
        ...{ stranger: () => ({ items: [] }), narrowed: () => ({ items: [] }) },
      },
    ),
    nodes: about(
      'read',
      ({ workflows }, { flow }, at) => workflows.nodes(flow, { ...at, limit: 9 }),
      () => ({ items: [{}, {}] }),
    ),
    addNodes: about('enqueue', ({ workflows }, { flow }, at) => workflows.addNodes(flow, [node('x', 'other')], at)),
    cancel: about('enqueue', ({ workflows }, { flow }, at) => workflows.cancel(flow, at)),
    signal: about('enqueue', ({ workflows }, { gated }, at) => workflows.signal(gated, 'paid', 1, at)),
    approve: about('admin', ({ workflows }, { gated }, at) => workflows.approve(gated, 'draft', {}, at)),
    requestRevision: about('admin', ({ workflows }, { gated }, at) =>
      workflows.requestRevision(gated, 'draft', { feedback: 'Shorter.' }, at),
    ),
    resume: about('admin', ({ workflows }, { flow }, at) => workflows.resume(flow, at)),
  },
  workers: {
    list: about(
      'read',
      ({ workers }, _, at) => workers.list(at),
      () => [{ id: 'w1' }],
      {
        ...{ stranger: () => [], narrowed: FORBIDDEN },
      },
    ),
    direct: about('admin', ({ workers }, _, at) => workers.direct('w1', 'quiet', at), A, { narrowed: FORBIDDEN }),
  },
  checks: CHECK_CASES,
  events: {
    read: about(
      'read',
      ({ events }, _, filter) => events.read({ filter, limit: 1 }),
      () => ({ events: [{ tenant: 'a', queue: 'mine' }] }),
      {
        stranger: ({ foreign }) => ({ events: [{ tenant: 'b', jobId: foreign.id }] }),
        narrowed: ({ other }) => ({ events: [{ jobId: other.id }] }),
      },
    ),
    end: about(
      'read',
      ({ events }) => events.end(),
      () => expect.any(String),
      {
        ...{ stranger: () => expect.any(String), narrowed: () => expect.any(String), takesNone: true },
      },
    ),
    follow: about('read', first, () => ({ tenant: 'a', queue: 'mine' }), {
      stranger: ({ foreign }) => ({ tenant: 'b', jobId: foreign.id }),
      narrowed: ({ other }) => ({ jobId: other.id }),
    }),
  },
  waybill: {
    health: about(
      'read',
      (port) => port.health(),
      () => ({ status: 'ok' }),
      {
        ...{ stranger: () => ({ status: 'ok' }), narrowed: () => ({ status: 'ok' }), takesNone: true },
      },
    ),
    close: {
      scope: null,
      takesNone: true,
      call: (port) => port.close(),
      right: FORBIDDEN,
      stranger: FORBIDDEN,
      narrowed: FORBIDDEN,
    },
  },
};

const all = Object.entries(CASES).flatMap(([group, methods]) =>
  Object.entries(methods as Record<string, Case>).map(([method, its]) => [`${group}.${method}`, its] as const),
);

async function expectFor(
  principal: Omit<Principal, 'id'>,
  its: Case,
  world: World,
  expected: Expected,
  at: { tenant?: string } = {},
) {
  await expectOf(scoped(world.waybill, { id: 'ada', ...principal }), its, world, expected, at);
}

async function expectOf(port: Waybill, { call }: Case, world: World, expected: Expected, at: { tenant?: string }) {
  const called = (async () => call(port, world, at))();
  if (typeof expected === 'string') await expect(called).rejects.toMatchObject({ code: expected });
  else expect({ answer: await called }).toMatchObject({ answer: expected });
}

describe.each(all)('%s', (name, its) => {
  const EVERY = [...SCOPES];
  /** Without the one that it needs; `admin` would include it. */
  const others = SCOPES.filter((scope) => scope !== its.scope && (its.scope === 'admin' || scope !== 'admin'));

  test('answers whoever has the scope', async () => {
    const world = await makeWorld();
    const scopes = its.scope === null ? EVERY : [its.scope];
    await expectFor({ tenant: 'a', scopes }, its, world, its.right(world));
  });

  test('is refused without the scope, and changes nothing', async () => {
    const world = await makeWorld();
    const before = await world.stored();
    await expectFor({ tenant: 'a', scopes: others }, its, world, 'forbidden');
    expect(await world.stored()).toBe(before);
  });

  test('shows and changes nothing of another tenant', async () => {
    const world = await makeWorld();
    const before = await world.stored();
    await expectFor({ tenant: 'b', scopes: EVERY }, its, world, its.stranger(world));
    expect(await world.stored()).toBe(before);
  });

  test('shows and changes nothing of another queue', async () => {
    const world = await makeWorld();
    const before = await world.stored();
    await expectFor({ tenant: 'a', scopes: EVERY, queues: ['other'] }, its, world, its.narrowed(world));
    expect(await world.stored()).toBe(before);
  });

  test.runIf(!its.takesNone)(
    'takes the tenant of the principal, and no other one unless it is an operator',
    async () => {
      const world = await makeWorld();
      const before = await world.stored();
      await expectFor({ tenant: 'b', scopes: EVERY }, its, world, 'forbidden', { tenant: 'a' });
      await expectFor({ tenant: 'a', scopes: EVERY }, its, world, 'forbidden', { tenant: '' });
      await expectFor({ tenant: '*', scopes: EVERY }, its, world, 'invalid_request', { tenant: '~system' });
      expect(await world.stored()).toBe(before);
      await expectFor({ tenant: 'a', scopes: EVERY }, its, world, its.right(world), { tenant: 'a' });
    },
  );

  test.runIf(!its.takesNone)('lets an operator name the tenant in the call', async () => {
    const world = await makeWorld();
    await expectFor({ tenant: '*', scopes: EVERY }, its, world, its.right(world), { tenant: 'a' });
  });

  test.runIf(its.scope !== null)('means the tenant of a connection that has one', async () => {
    const world = await makeWorld();
    await expectOf(inTenant(world.waybill, 'a'), its, world, its.right(world), {});
  });

  test('is written down where it takes admin, done or refused, and nowhere else; a read only where refused', async () => {
    const world = await makeWorld();
    const asNote = name.replace('records.put', 'notes.create').replace(/^records/, 'notes');
    const action = asNote.replace(/^messages/, 'deadLetters.messages');
    const isRead = /\.(get|list)$/.test(name);
    for (const [scopes, outcome] of [[EVERY, 'ok'] as const, [others, 'forbidden'] as const]) {
      const done: DoneCall[] = [];
      const port = scoped(world.waybill, { id: 'ada', tenant: 'a', scopes });
      const told = audited(port, async (one) => void done.push(one));
      const [called] = await Promise.allSettled([(async () => its.call(told, world, {}))()]);
      if (its.scope === 'admin') {
        expect(called.status).toBe(outcome === 'ok' ? 'fulfilled' : 'rejected');
        expect(done).toMatchObject(isRead && outcome === 'ok' ? [] : [{ action, outcome }]);
      } else expect(done).toMatchObject(its.isAudited ? [{ action, outcome: 'forbidden' }] : []);
    }
  });
});

test('docs/access.md names every call under the scope that it needs', () => {
  const page = readFileSync(new URL('../../../../docs/access.md', import.meta.url), 'utf8');
  const callsOf = (scope: string): string[] => {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${scope}\` | `)) ?? '';
    return [...row.slice(`| \`${scope}\``.length).matchAll(/`([\w.]+)`/g)].map(([, call]) => call!).sort();
  };
  const named = (name: string) => name.replace(/^waybill\./, '').replace(/^messages\./, 'deadLetters.messages.');
  for (const scope of SCOPES.filter((one) => one !== 'metrics')) {
    const needed = all.filter(([, its]) => its.scope === scope).map(([name]) => named(name));
    expect({ [scope]: callsOf(scope) }).toEqual({ [scope]: needed.sort() });
  }
});
