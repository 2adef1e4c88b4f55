import { describe, expect, test } from 'vitest';
import type { StoreMethod } from '../testing/faulty-store.ts';
import { type TestEngine, testEngine } from '../testing/test-engine.ts';
import type { Waybill } from '../waybill.ts';
import type { Principal } from './principal.ts';
import { inTenant, scoped } from './scoped.ts';
import { checkTenant } from './tenant.ts';

const REQUEST = { type: 'test.job', args: [] };
const ADA: Principal = { id: 'ada', tenant: 'a', scopes: ['admin'] };

test('a tenant is printable, short, one, and not the system’s', () => {
  for (const good of ['', 'acme', 'Acme-2.corp', 'a*', 'a~', 'x'.repeat(128)]) expect(checkTenant(good)).toBe(good);
  const bad = ['*', '~system', '~', 'a b', ' a', 'a, b', 'größe', 'a\n', '\u0000', 'x'.repeat(129), 5 as never];
  for (const one of bad) {
    expect(() => checkTenant(one, 'X')).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  }
});

test('the engine makes nothing for a tenant that no caller may name', async () => {
  const { waybill, store } = testEngine({ maintenance: false });
  const { jobs, crons, workflows } = waybill;
  for (const tenant of ['*', '~system', 'a b']) {
    for (const call of [
      jobs.enqueue(REQUEST, { tenant }),
      jobs.enqueueMany([REQUEST], { tenant }),
      crons.put({ name: 'c', expression: '@daily', job_template: REQUEST }, { tenant }),
      workflows.create({ nodes: [{ id: 'x', ...REQUEST }] }, { tenant }),
      waybill.queues.pause('q', { tenant }),
      waybill.limits.set('k', { concurrency: 1, rate: null }, { tenant }),
      waybill.records!.put({ kind: 'note', id: 'n', value: {}, expected: 0 }, { tenant }),
    ])
      await expect(call).rejects.toMatchObject({ code: 'invalid_request', details: { field: 'tenant' } });
  }
  expect([store.calls('insert'), store.calls('crons.put')]).toEqual([0, 0]);
});

describe('a principal that could not be held to what it says is refused', () => {
  test.each([
    [{ scopes: ['work'], types: ['a.b'] }, /types.*work: claims go by queue/],
    [{ scopes: ['admin'], types: ['a.b'] }, /types.*admin includes it/],
    [{ queue: ['mail'] } as never, /no 'queue'.*Did you mean 'queues'/],
    [{ type: ['a.b'] } as never, /no 'type'/],
    [{ queues: null } as never, /queues.*must be a list/],
    [{ types: null } as never, /types.*must be a list/],
    [{ types: [5], scopes: ['read'] } as never, /types.*must be a list/],
    [{ queues: 'mail' } as never, /queues.*must be a list/],
    [{ scopes: 'read' } as never, /scopes.*must be a list/],
    [{ scopes: undefined } as never, /scopes.*must be a list/],
    [{ tenant: '~system' }, /tenant/],
    [{ tenant: 'a b' }, /tenant/],
    [{ queues: ['Not Valid'] }, /queues\[0\]/],
    [{ scopes: ['everything' as never] }, /scopes/],
  ] satisfies [Partial<Principal>, RegExp][])('%j', (over, message) => {
    const { waybill } = testEngine();
    expect(() => scoped(waybill, { ...ADA, ...over })).toThrow(message);
  });
});

test('principals that say the same share one port of an engine, and only that', () => {
  const [{ waybill }, { waybill: another }] = [testEngine(), testEngine()];
  const one = { id: 'k', tenant: 'a', scopes: ['read', 'work'], queues: ['x', 'y'] } satisfies Principal;
  const port = scoped(waybill, one);
  expect(scoped(waybill, { ...one, scopes: ['work', 'read'], queues: ['y', 'x'] })).toBe(port);
  for (const other of [{ id: 'l' }, { tenant: 'b' }, { scopes: ['work'] as const }, { queues: ['x'] }])
    expect(scoped(waybill, { ...one, ...other })).not.toBe(port);
  expect(scoped(another, one)).not.toBe(port);
});

test('ports are kept for a thousand principals, those that were asked for last', () => {
  const { waybill } = testEngine();
  const portOf = (n: number) => scoped(waybill, { ...ADA, id: `key-${n}` });
  const [first, second] = [portOf(1), portOf(2)];
  for (let n = 3; n <= 1_000; n += 1) portOf(n);
  expect(portOf(1)).toBe(first);
  portOf(1_001);
  expect([portOf(1) === first, portOf(2) === second]).toEqual([true, false]);
});

test('what is changed in a principal later changes nothing for others', async () => {
  const { waybill } = testEngine();
  const queues = ['x'];
  const port = scoped(waybill, { ...ADA, queues });
  queues.push('default');
  await expect(port.jobs.enqueue(REQUEST)).rejects.toMatchObject({ code: 'forbidden' });
});

const METHODS: StoreMethod[] = [
  ...(['insert', 'get', 'list', 'count', 'claim', 'claimById', 'apply', 'extend'] as const),
  ...(['workers.beat', 'reports.add', 'queues.stats', 'queues.list', 'events.read', 'records.get'] as const),
];

/** The calls of the store in the life of one job. */
async function callsIn({ store, waybill }: TestEngine, port: Waybill): Promise<Record<string, number>> {
  await port.jobs.enqueue(REQUEST);
  const [lease] = await port.jobs.claim({ queues: ['default'], workerId: 'w' });
  const held = { id: lease!.job.id, leaseToken: lease!.token };
  await port.jobs.heartbeat({ workerId: 'w', jobs: [held] });
  await port.jobs.settle({ ...held, outcome: { kind: 'completed', result: 1 } });
  const counted = Object.fromEntries(METHODS.map((method) => [method, store.calls(method)]));
  expect(await waybill.jobs.get(held.id, { tenant: lease!.job.tenant })).toMatchObject({ state: 'completed' });
  return counted;
}

test('who names no queues and no types costs the store nothing more; who does, a read per job', async () => {
  const engines = Array.from({ length: 4 }, () => testEngine({ maintenance: false }));
  const [plain, wide, home, narrow] = await Promise.all([
    callsIn(engines[0]!, engines[0]!.waybill),
    callsIn(engines[1]!, scoped(engines[1]!.waybill, ADA)),
    callsIn(engines[2]!, inTenant(engines[2]!.waybill, 'a')),
    callsIn(engines[3]!, scoped(engines[3]!.waybill, { ...ADA, queues: ['default'] })),
  ]);
  expect(plain['get']).toBe(0);
  expect(wide).toEqual(plain);
  expect(home).toEqual(plain);
  expect(narrow).toEqual({ ...plain, get: 2 });
});

test('a scoped port is not closed by whoever uses it; that of a connection is', async () => {
  const { waybill, store } = testEngine();
  await expect(scoped(waybill, { ...ADA, tenant: '*' }).close()).rejects.toMatchObject({ code: 'forbidden' });
  expect(store.calls('close')).toBe(0);
  await inTenant(waybill, 'a').close();
  expect(store.calls('close')).toBe(1);
});

test('changes say who asked for them; a principal with an id cannot give another name', async () => {
  const { waybill } = testEngine();
  const port = scoped(waybill, ADA);
  const [one, two] = [await port.jobs.enqueue(REQUEST), await port.jobs.enqueue(REQUEST)];
  await port.jobs.cancel(one.job.id, { reason: 'late' });
  await port.jobs.cancel(two.job.id, { by: 'bob' });
  await port.queues.pause('default');
  await port.queues.resume('default', { by: 'bob' });
  await scoped(waybill, { ...ADA, id: '' }).queues.pause('default', { by: 'bob' });
  const types = ['job.cancelled', 'queue.paused', 'queue.resumed'] as const;
  const { events } = await port.events.read({ filter: { types }, limit: 10 });
  expect(events.map(({ data }) => data)).toEqual([
    ...[{ cancelled_by: 'ada', reason: 'late' }, { cancelled_by: 'ada' }],
    ...[
      { queue: 'default', paused_by: 'ada' },
      { queue: 'default', resumed_by: 'ada' },
    ],
    ...[{ queue: 'default', paused_by: 'bob' }],
  ]);
});

test('an absent tenant of an operator is the empty one, in the log too, where * means all', async () => {
  const { waybill } = testEngine();
  const operator = scoped(waybill, { ...ADA, tenant: '*' });
  const plain = await operator.jobs.enqueue(REQUEST);
  const theirs = await operator.jobs.enqueue(REQUEST, { tenant: 'b' });
  expect([plain.job.tenant, theirs.job.tenant]).toEqual(['', 'b']);
  const readBy = async (port: Waybill, tenant?: string) => {
    const { events } = await port.events.read({ filter: tenant === undefined ? {} : { tenant }, limit: 10 });
    return events.map(({ jobId }) => jobId);
  };
  expect(await readBy(operator)).toEqual([plain.job.id]);
  expect(await readBy(operator, '*')).toEqual([plain.job.id, theirs.job.id]);
  expect(await readBy(waybill)).toEqual([plain.job.id]);
  await expect(readBy(scoped(waybill, ADA), '*')).rejects.toMatchObject({ code: 'forbidden' });
  await expect(operator.jobs.enqueue(REQUEST, { tenant: '*' })).rejects.toMatchObject({ code: 'invalid_request' });
});
