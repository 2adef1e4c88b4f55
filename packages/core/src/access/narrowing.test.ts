import { describe, expect, test } from 'vitest';
import type { JobRequest } from '../enqueue/envelope.ts';
import type { EventFilter } from '../store/event-log.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { memoryBlobs } from '../testing/memory-blobs.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import type { Health, Waybill } from '../waybill.ts';
import type { Principal } from './principal.ts';
import { scoped } from './scoped.ts';

const job = (queue: string, type = 'mail.send', over: object = {}) => ({ type, args: [], options: { queue, ...over } });
const KEY: Principal = { id: 'key', tenant: '', scopes: ['admin'] };
const MAILS: Principal = { ...KEY, queues: ['mails'] };
const SENDER: Principal = { id: 'sender', tenant: '', scopes: ['enqueue', 'read'], types: ['mail.send'] };

function engineFor(principal: Principal) {
  const engine = testEngine({ maintenance: false });
  return { ...engine, port: scoped(engine.waybill, principal) };
}

const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'fine',
    (error: { code: unknown }) => error.code,
  );

describe('what is enqueued', () => {
  test('every place where a queue or a type may stand is looked at', async () => {
    const { port, waybill } = engineFor(MAILS);
    const calls: [expected: string, call: Promise<unknown>][] = [
      ['fine', port.jobs.enqueue(job('mails'))],
      ['fine', port.jobs.enqueue({ type: 'a.b', args: [], queue: 'mails' })],
      ['forbidden', port.jobs.enqueue({ type: 'a.b', args: [] })],
      ['forbidden', port.jobs.enqueue({ type: 'a.b', args: [], queue: 'other' })],
      ['forbidden', port.jobs.enqueue({ ...job('other'), queue: 'mails' })],
      // Null counts as absent, and the default queue is another one.
      ['forbidden', port.jobs.enqueue({ ...job(null as never), queue: 'mails' })],
      ['forbidden', port.jobs.enqueueMany([job('mails'), job('other')])],
      ['invalid_request', port.jobs.enqueue({ args: [], options: { queue: 'mails' } } as never)],
    ];
    for (const [expected, call] of calls) expect(await codeOf(call)).toBe(expected);
    expect((await waybill.jobs.list({ limit: 10 })).items.map(({ queue }) => queue)).toEqual(['mails', 'mails']);
  });

  test('no limit that others may share is held or changed', async () => {
    const { port, waybill } = engineFor(MAILS);
    const rule = { concurrency: 50, rate: null };
    await waybill.limits.set('bank-api', rule);
    const own = { rate_limit: { concurrency: 1 } };
    const shared = { rate_limit: { key: 'bank-api', max_per_day: 1 } };
    const template = { name: 'c', expression: '@daily', job_template: job('mails', 'mail.send', shared) };
    for (const call of [
      port.jobs.enqueue(job('mails', 'mail.send', shared)),
      port.jobs.enqueue(job('mails', 'mail.send', { rate_limit: { key: 'bank-api' } })),
      port.jobs.enqueue(job('mails', 'mail.send', own)),
      port.jobs.enqueueMany([job('mails'), job('mails', 'mail.send', shared)]),
      port.crons.put(template),
      port.workflows.create({ nodes: [{ id: 'x', ...job('mails', 'mail.send', shared) }] }),
      port.workflows.create({
        nodes: [{ id: 'x', ...job('mails') }],
        callbacks: { on_complete: template.job_template },
      }),
    ])
      expect(await codeOf(call)).toBe('forbidden');
    expect((await waybill.limits.get('bank-api')).rule).toEqual(rule);
    expect((await waybill.jobs.list({ limit: 9 })).items).toEqual([]);
  });

  test('a type is looked at as well', async () => {
    const { port } = engineFor(SENDER);
    expect(await codeOf(port.jobs.enqueue(job('any')))).toBe('fine');
    expect(await codeOf(port.jobs.enqueue(job('any', 'mail.drop')))).toBe('forbidden');
  });

  test('so are the nodes and callbacks of a workflow, at every depth', async () => {
    const { port } = engineFor(MAILS);
    const [mine, other] = [job('mails'), job('other')];
    const flow = (nodes: object[], more: object = {}) => port.workflows.create({ type: 'group', jobs: nodes, ...more });
    const { id } = await flow([mine, mine], { callbacks: { on_success: mine } });
    for (const refused of [
      flow([mine, other]),
      flow([{ type: 'chain', steps: [mine, { type: 'group', jobs: [other] }] }]),
      flow([mine], { callbacks: { on_complete: other } }),
      port.workflows.create({ nodes: [{ id: 'x', job: other }] }),
      port.workflows.addNodes(id, [
        { id: 'x', ...mine },
        { id: 'y', ...other },
      ]),
    ])
      expect(await codeOf(refused)).toBe('forbidden');
    expect(await port.workflows.addNodes(id, [{ id: 'x', ...mine }])).toMatchObject({ total: 3 });
    expect((await port.workflows.list({ limit: 10 })).items).toMatchObject([{ id }]);
  });

  test('what waits for a signal is no job of another queue or type', async () => {
    const { port, waybill } = engineFor(SENDER);
    const nodes = [
      { id: 'paid', signal: true },
      { id: 'mail', depends_on: ['paid'], ...job('default') },
    ];
    const { id } = await port.workflows.create({ nodes });
    await port.workflows.addNodes(id, [{ id: 'sent', signal: true }]);
    await port.workflows.signal(id, 'paid', 1);
    expect(await codeOf(port.workflows.approve(id, 'mail'))).toBe('forbidden');
    const elsewhere = await waybill.workflows.create({
      nodes: [
        { id: 'paid', signal: true },
        { id: 'x', ...job('q', 'a.b') },
      ],
    });
    expect(await codeOf(port.workflows.signal(elsewhere.id, 'paid', 1))).toBe('not_found');
    const { events } = await waybill.events.read({ filter: { types: ['job.signalled'] } });
    expect(events).toMatchObject([{ data: { workflow_id: id, signal: 'paid', sent_by: 'sender' } }]);
  });

  test('a workflow with one job elsewhere is nobody’s but of those who see all', async () => {
    const { port, waybill } = engineFor(MAILS);
    const { id } = await waybill.workflows.create({ type: 'chain', steps: [job('mails'), job('other')] });
    const called = await waybill.workflows.create({
      ...{ type: 'batch', jobs: [job('mails')], callbacks: { on_complete: job('other') } },
    });
    for (const one of [id, called.id]) expect(await codeOf(port.workflows.cancel(one))).toBe('not_found');
    expect((await port.workflows.list({ limit: 10 })).items).toEqual([]);
  });

  test('a schedule is made and replaced only in the queue of the principal', async () => {
    const { port, waybill } = engineFor(MAILS);
    const cron = (name: string, queue: string) => ({ name, expression: '@daily', job_template: job(queue) });
    await waybill.crons.put(cron('theirs', 'other'));
    expect(await codeOf(port.crons.put(cron('mine', 'mails')))).toBe('fine');
    expect(await codeOf(port.crons.put(cron('mine', 'other')))).toBe('forbidden');
    expect(await codeOf(port.crons.put({ name: 'flat', expression: '@daily', ...job('other') }))).toBe('forbidden');
    expect(await codeOf(port.crons.put(cron('theirs', 'mails')))).toBe('conflict');
    expect(await waybill.crons.list()).toMatchObject([
      { name: 'mine', template: { options: { queue: 'mails' } } },
      { name: 'theirs', template: { options: { queue: 'other' } } },
    ]);
  });

  test('no unique rule, key or id tells of a job elsewhere, or replaces it', async () => {
    const { port, waybill } = engineFor(MAILS);
    const unique = { keys: ['type'], on_conflict: 'replace' };
    const { job: theirs } = await waybill.jobs.enqueue(job('other', 'a.b', { unique }), { idempotencyKey: 'k' });
    expect(await codeOf(port.jobs.enqueue(job('mails', 'a.b', { unique })))).toBe('invalid_request');
    expect(await codeOf(port.jobs.enqueue(job('mails', 'a.b', { unique: {} })))).toBe('invalid_request');
    const keyed = port.jobs.enqueue(job('mails', 'a.b'), { idempotencyKey: 'k' });
    await expect(keyed).rejects.toMatchObject({ code: 'duplicate', details: {} });
    for (const call of [
      () => port.jobs.enqueue({ ...job('mails'), id: theirs.id }),
      () => port.jobs.enqueueMany([{ ...job('mails'), id: theirs.id }]),
    ]) {
      const error = (await call().catch((reason: unknown) => reason)) as Error & { details: object };
      expect([error.message, Object.keys(error.details)]).toEqual([
        ...['There is already a job with this id.', expect.not.arrayContaining(['existing_job_state'])],
      ]);
    }
    expect(await waybill.jobs.get(theirs.id)).toEqual(theirs);
    const own = { keys: ['type', 'queue'], on_conflict: 'reject' };
    const { job: mine } = await port.jobs.enqueue(job('mails', 'a.b', { unique: own }));
    await expect(port.jobs.enqueue(job('mails', 'a.b', { unique: own }))).rejects.toMatchObject({
      ...{ code: 'duplicate', details: { existing_job_id: mine.id, existing_job_state: 'available' } },
    });
  });
});

test('filters are intersected; where nothing is left, the store is not asked', async () => {
  const { port, waybill, store } = engineFor(MAILS);
  const { job: mine } = await waybill.jobs.enqueue(job('mails'));
  await waybill.jobs.enqueue(job('other'));
  const { items } = await port.jobs.list({ filter: { queues: ['mails', 'other'] }, limit: 10 });
  expect(items.map(({ id }) => id)).toEqual([mine.id]);
  const asked = () => [store.calls('list'), store.calls('count'), store.calls('events.read')];
  const before = asked();
  const filter = { queues: ['other'] };
  expect(await port.jobs.list({ filter, limit: 10 })).toEqual({ items: [] });
  expect(await port.deadLetters.list({ filter, limit: 10 })).toEqual({ items: [] });
  expect(await port.deadLetters.stats(filter)).toEqual({ total: 0, exact: true });
  expect(await port.deadLetters.replayMany(filter)).toEqual({ replayed: 0, more: false });
  expect(await port.events.read({ filter, after: 'anywhere', limit: 10 })).toMatchObject({ cursor: 'anywhere' });
  expect(asked()).toEqual(before);
});

test('types narrow lists, and what is no list is not shown', async () => {
  const { port, waybill } = engineFor(SENDER);
  const { job: mine } = await waybill.jobs.enqueue(job('q'));
  const { job: theirs } = await waybill.jobs.enqueue(job('q', 'mail.drop'));
  expect((await port.jobs.list({ limit: 10 })).items.map(({ id }) => id)).toEqual([mine.id]);
  expect(await codeOf(port.jobs.get(theirs.id))).toBe('not_found');
  expect(await codeOf(port.jobs.cancel(theirs.id))).toBe('not_found');
  expect(await port.queues.list()).toMatchObject([{ name: 'q' }]);
  expect(await codeOf(port.queues.stats('q'))).toBe('forbidden');
});

describe('the log', () => {
  async function busy(principal: Principal) {
    const engine = engineFor(principal);
    const { jobs, queues, crons } = engine.waybill;
    for (const queue of ['mails', 'other']) {
      await jobs.enqueue(job(queue));
      await jobs.enqueue(job(queue, 'mail.drop'));
      await queues.pause(queue);
    }
    await crons.put({ name: 'daily', expression: '@daily', job_template: job('mails') });
    const namesIn = async (port: Waybill, filter: Partial<EventFilter> = {}) => {
      const { events, atEnd } = await port.events.read({ filter, limit: 100 });
      expect(atEnd).toBe(true);
      return events.map(({ type, subject, queue, jobType }) => [type, subject ?? queue, jobType].join(' ').trim());
    };
    return { ...engine, namesIn };
  }

  test('shows jobs and queues to whoever may see the queue, and nothing else', async () => {
    const { port, namesIn } = await busy(MAILS);
    const mine = ['job.enqueued mails mail.send', 'job.enqueued mails mail.drop', 'queue.paused mails'];
    expect(await namesIn(port)).toEqual(mine);
    expect(await namesIn(port, { queues: ['other', 'mails'] })).toEqual(mine);
    expect(await namesIn(port, { queues: ['other'] })).toEqual([]);
  });

  test('shows jobs by type', async () => {
    const { port, waybill, namesIn } = await busy(SENDER);
    expect(await namesIn(port)).toEqual([
      ...['job.enqueued mails mail.send', 'queue.paused mails'],
      ...['job.enqueued other mail.send', 'queue.paused other'],
    ]);
    expect(await namesIn(scoped(waybill, { ...SENDER, queues: ['other'] }))).toEqual([
      ...['job.enqueued other mail.send', 'queue.paused other'],
    ]);
    expect(await namesIn(scoped(waybill, KEY))).toContain('cron.registered daily');
  });

  test('is followed under the same rules, also where nothing can come', async () => {
    const { port, waybill } = await busy(SENDER);
    const seen: string[] = [];
    const over = new AbortController();
    for await (const { jobType, type } of port.events.follow({ signal: over.signal })) {
      seen.push(jobType ?? type);
      if (seen.length === 4) over.abort();
    }
    expect(seen).toEqual(['mail.send', 'queue.paused', 'mail.send', 'queue.paused']);
    const silent = new AbortController();
    const narrow = scoped(waybill, MAILS).events;
    const followed = (async () => {
      for await (const event of narrow.follow({ filter: { queues: ['other'] }, signal: silent.signal })) return event;
      return 'nothing';
    })();
    silent.abort();
    expect(await followed).toBe('nothing');
  });
});

test('a job whose payload is gone is hidden from others, and can be cancelled', async () => {
  const clock = new TestClock();
  const blobs = memoryBlobs();
  const { waybill } = testEngine({ clock, on: memoryStore({ clock }), blobs: { store: blobs.store, threshold: 16 } });
  const large = { ...job('mails'), args: ['a text that is longer than the threshold'] };
  const { job: one } = await waybill.jobs.enqueue(large);
  blobs.setAway(true);
  const [mine, others] = [scoped(waybill, MAILS), scoped(waybill, { ...KEY, queues: ['other'] })];
  expect(await codeOf(mine.jobs.get(one.id))).toBe('unavailable');
  expect(await codeOf(others.jobs.get(one.id))).toBe('not_found');
  expect(await codeOf(others.jobs.cancel(one.id))).toBe('not_found');
  expect(await codeOf(mine.jobs.cancel(one.id))).toBe('fine');
});

test('health names what fails only to those whose it is', async () => {
  const { waybill } = testEngine();
  const item = { kind: 'cron', id: 'c', reason: 'no', failures: 1, since: 0, nextTryAt: 0 } as const;
  const items = [
    { ...item, tenant: 'a' },
    { ...item, tenant: 'b' },
  ];
  const failing: Waybill = {
    ...waybill,
    health: async (): Promise<Health> => ({
      ...{ status: 'ok', store: { name: 'm', status: 'ok', latencyMs: 0 } },
      maintenance: { status: 'failing', failing: 2, items },
      unknownTypes: { jobs: 1, types: [] },
    }),
  };
  const shown = async (over: Partial<Principal>) =>
    (await scoped(failing, { ...KEY, ...over }).health()).maintenance?.items.map(({ tenant }) => tenant);
  expect(await shown({ tenant: '*' })).toEqual(['a', 'b']);
  expect(await shown({ tenant: 'b' })).toEqual(['b']);
  expect(await shown({ tenant: 'b', queues: ['q'] })).toEqual([]);
  // Types are named without their tenants.
  const showsTypes = async (over: Partial<Principal>) =>
    'unknownTypes' in (await scoped(failing, { ...KEY, ...over }).health());
  expect(await showsTypes({ tenant: '*' })).toBe(true);
  expect([await showsTypes({ tenant: 'b' }), await showsTypes({ tenant: '*', queues: ['q'] })]).toEqual([false, false]);
});

describe('what a caller without the scope read is answered', () => {
  const PRODUCER: Principal = { id: 'producer', tenant: '', scopes: ['enqueue'] };
  const card = { type: 'card.charge', args: [{ card: '4111' }], meta: { user: 'ada' } };
  const unique: JobRequest['options'] = { unique: { keys: ['type'], on_conflict: 'ignore' } };
  const rival: JobRequest = { type: 'card.charge', args: [], options: unique };

  test('of jobs that others have made: neither args, meta, result nor errors', async () => {
    const { port, waybill } = engineFor(PRODUCER);
    const { job: first } = await waybill.jobs.enqueue({ ...card, options: { ...unique, pending: true } });
    const met = await port.jobs.enqueue(rival);
    const [many] = await port.jobs.enqueueMany([rival]);
    for (const found of [met.job, many!, await port.jobs.activate(first.id), await port.jobs.cancel(first.id)]) {
      expect(found.id).toBe(first.id);
      expect(JSON.stringify(found)).not.toMatch(/"4111"|"ada"/);
    }
    const reader = scoped(waybill, { ...PRODUCER, scopes: ['enqueue', 'read'] });
    expect((await reader.jobs.enqueue({ ...rival, args: [1] })).job.spec.args).not.toEqual([]);
  });

  test('of jobs with equal args that others have made: the same by one call and by a batch', async () => {
    const { port, waybill } = engineFor(PRODUCER);
    const equal: JobRequest = {
      ...{ type: 'bill.make', args: [42], meta: { user: 'eve' } },
      options: { unique: { keys: ['type', 'args'], on_conflict: 'ignore', states: ['available', 'completed'] } },
    };
    const { job: theirs } = await waybill.jobs.enqueue({ ...equal, meta: { user: 'ada' } });
    const [lease] = await waybill.jobs.claim({ queues: ['default'] });
    const outcome = { kind: 'completed', result: { iban: 'CH93' } } as const;
    await waybill.jobs.settle({ id: theirs.id, leaseToken: lease!.token, outcome });

    const { job: one } = await port.jobs.enqueue(equal);
    // An id of its own that is theirs is refused, so no id can pass for one that the call made.
    await expect(port.jobs.enqueueMany([{ ...equal, id: theirs.id }])).rejects.toMatchObject({ code: 'duplicate' });
    const [many, own] = await port.jobs.enqueueMany([equal, { ...equal, args: [43] }]);
    expect(many).toEqual(one);
    expect(many).toMatchObject({ id: theirs.id, result: null, errors: [], spec: { args: [], meta: {} } });
    expect(own!.spec).toMatchObject({ args: [43], meta: { user: 'eve' } });
  });

  test('of two jobs of one batch that share a unique key: the one that the batch made, whole', async () => {
    const { port } = engineFor(PRODUCER);
    const made = await port.jobs.enqueueMany(
      [rival, { ...rival, args: [1] }].map((one) => ({ ...one, meta: { n: 1 } })),
    );
    expect(made.map(({ id }) => id)).toEqual([made[0]!.id, made[0]!.id]);
    expect(made[1]!.spec.meta).toEqual({ n: 1 });
  });

  test('of its own jobs: what it has sent', async () => {
    const { port } = engineFor(PRODUCER);
    expect((await port.jobs.enqueue(card)).job.spec).toMatchObject({ args: card.args, meta: card.meta });
    expect((await port.jobs.enqueueMany([card]))[0]!.spec).toMatchObject({ args: card.args, meta: card.meta });
  });
});

test('a batch shows a narrowed caller no job that it may not see', async () => {
  const { waybill } = testEngine();
  const { job: theirs } = await waybill.jobs.enqueue(job('other'));
  const jobs = { ...waybill.jobs, enqueueMany: async () => [theirs] };
  const refused = scoped({ ...waybill, jobs }, MAILS).jobs.enqueueMany([job('mails')]);
  await expect(refused).rejects.toMatchObject({ code: 'duplicate', details: { index: 0 } });
  await expect(refused).rejects.not.toMatchObject({ details: { existing_job_id: expect.anything() } });
});

test('a repeated claim of a narrowed worker answers no lease of another queue', async () => {
  const { port, waybill } = engineFor({ ...MAILS, scopes: ['work'] });
  await waybill.jobs.enqueue(job('billing'));
  const claimId = 'known-claim';
  expect(await waybill.jobs.claim({ queues: ['billing'], claimId })).toHaveLength(1);
  expect(await port.jobs.claim({ queues: ['mails'], claimId })).toEqual([]);
});
