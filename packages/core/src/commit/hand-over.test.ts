import { describe, expect, test } from 'vitest';
import type { Fault } from '../testing/faulty-store.ts';
import { type TestEngine, testEngine } from '../testing/test-engine.ts';
import type { ClaimCall } from '../waybill.ts';

/** Begins a claim and answers when it waits. Its outcome is in an object: a promise by itself would be awaited. */
async function waiting({ waybill, clock }: TestEngine, call: Partial<ClaimCall> = {}) {
  const asleep = clock.whenSleeping(clock.sleepers + 1);
  const leases = waybill.jobs.claim({ queues: ['default'], waitMs: 60_000, ...call });
  await asleep;
  return { leases, ids: leases.then((given) => given.map(({ job }) => job.id)) };
}

/** What is begun in here starts its writes one after another, before anybody goes on who waits for a promise. */
const inOneTurn = <T>(begin: () => T): Promise<{ begun: T }> =>
  new Promise((resolve) => setImmediate(() => resolve({ begun: begin() })));

/** Without upkeep, so that only claims sleep. */
const quietEngine = (faults: readonly Fault[] = []): TestEngine => testEngine({ maintenance: false, faults });

test('a job that comes while a claim waits is handed over in the write that stores it', async () => {
  const engine = quietEngine();
  const { leases } = await waiting(engine, { count: 5, workerId: 'w', leaseMs: 7_000 });
  const looks = engine.store.calls('claim');
  const id = await engine.enqueue();
  const [lease, ...others] = await leases;
  expect(lease!.job).toMatchObject({ id, state: 'active', run: 1, workerId: 'w', leaseMs: 7_000 });
  expect(others).toEqual([]);
  expect([engine.store.calls('insert'), engine.store.calls('claim') - looks]).toEqual([0, 0]);
  const settled = await engine.waybill.jobs.settle({
    id,
    leaseToken: lease!.token,
    outcome: { kind: 'completed', result: 1 },
  });
  expect(settled.state).toBe('completed');
});

test('who has waited longest gets the next one', async () => {
  const engine = quietEngine();
  const claims = [await waiting(engine), await waiting(engine), await waiting(engine)];
  for (const { ids } of claims) {
    const id = await engine.enqueue();
    expect(await ids).toEqual([id]);
  }
});

test('a claim of several queues gets a job of any of them, and one of another queue or tenant waits on', async () => {
  const engine = quietEngine();
  const elsewhere = await waiting(engine, { queues: ['other'] });
  const stranger = await waiting(engine, { tenant: 'acme' });
  const both = await waiting(engine, { queues: ['first', 'default'] });
  const id = await engine.enqueue();
  expect(await both.ids).toEqual([id]);
  await engine.clock.advance(60_000);
  expect(await Promise.all([elsewhere.ids, stranger.ids])).toEqual([[], []]);
});

test('jobs that come together, or are not due, wake the claim as always', async () => {
  const engine = quietEngine();
  const { ids } = await waiting(engine, { count: 5 });
  await engine.enqueue({ scheduled_at: '+PT1H' });
  const jobs = await engine.waybill.jobs.enqueueMany([1, 2].map((n) => ({ type: 'test.job', args: [n] })));
  expect((await ids).sort()).toEqual(jobs.map(({ id }) => id).sort());
  expect(engine.store.calls('insertAndClaim')).toBe(0);
});

test('a claim that was served in vain waits on', async () => {
  const engine = quietEngine();
  const { ids } = await waiting(engine);
  await engine.waybill.queues.pause('default');
  await engine.waybill.queues.resume('default');
  await engine.waybill.queues.pause('default');
  const id = await engine.enqueue();
  expect(engine.store.calls('insertAndClaim')).toBe(1);
  await engine.waybill.queues.resume('default');
  expect(await ids).toEqual([id]);
});

describe('a wake-up that comes while a claim is served is not slept through', () => {
  test('by the claim that was served in vain', async () => {
    const engine = quietEngine();
    const { jobs, queues } = engine.waybill;
    await queues.setLimit('default', { concurrency: 1, rate: null });
    const id = await engine.enqueue();
    const { token: leaseToken } = await engine.claimOne();
    const { ids } = await waiting(engine);
    const { begun } = await inOneTurn(() => {
      const enqueued = engine.enqueue();
      return { enqueued, settled: jobs.settle({ id, leaseToken, outcome: { kind: 'completed', result: 1 } }) };
    });
    await begun.settled;
    expect(engine.store.calls('insertAndClaim')).toBe(1);
    expect(await ids).toEqual([await begun.enqueued]);
  });

  test('by the next one, after all that there was', async () => {
    const engine = quietEngine();
    const { jobs } = engine.waybill;
    const id = await engine.enqueue();
    const { token: leaseToken } = await engine.claimOne();
    const { ids } = await waiting(engine, { count: 5 });
    const { begun } = await inOneTurn(() => {
      const enqueued = engine.enqueue();
      return { enqueued, settled: jobs.settle({ id, leaseToken, outcome: { kind: 'requeued' } }) };
    });
    await begun.settled;
    expect(await ids).toEqual([await begun.enqueued]);
    const [next] = await jobs.claim({ queues: ['default'], count: 5, waitMs: 60_000 });
    expect(next!.job.id).toBe(id);
  });
});

test('a claim that was given up in the same moment still gets what was written for it', async () => {
  const engine = quietEngine();
  const over = new AbortController();
  const { ids } = await waiting(engine, { signal: over.signal });
  const enqueued = engine.enqueue();
  // The flush begins in this turn, before anything else is done.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  over.abort();
  expect(await ids).toEqual([await enqueued]);
});

test('a claim that was given up before gets nothing, and the job is there for others', async () => {
  const engine = quietEngine();
  const over = new AbortController();
  const { ids } = await waiting(engine, { signal: over.signal });
  over.abort();
  expect(await ids).toEqual([]);
  const id = await engine.enqueue();
  expect((await engine.claimOne()).job.id).toBe(id);
});

test('nor does one get it that was given up in this turn and has not left yet', async () => {
  const engine = quietEngine();
  const over = new AbortController();
  const { ids } = await waiting(engine, { signal: over.signal });
  const { begun } = await inOneTurn(() => {
    over.abort();
    return { enqueued: engine.enqueue() };
  });
  const id = await begun.enqueued;
  expect(await ids).toEqual([]);
  expect((await engine.claimOne()).job.id).toBe(id);
});

describe('guarantees 1, 2, 10 hold when the write that hands over breaks', () => {
  // fault: the connection breaks before or after the effect of a store call
  test.each(['before', 'after'] as const)('%s its effect', async (when) => {
    const engine = quietEngine([{ method: 'insertAndClaim', call: 1, when }]);
    const { leases } = await waiting(engine, { claimId: 'claim-0001' });
    const id = await engine.enqueue();
    const [lease] = await leases;
    expect(lease!.job).toMatchObject({ id, run: 1, attempt: 1, claimId: 'claim-0001' });
    expect(await engine.waybill.jobs.claim({ queues: ['default'] })).toEqual([]);
    const { events } = await engine.waybill.events.read({ limit: 10 });
    expect(events.map(({ type }) => type)).toEqual(['job.enqueued', 'job.started']);
  });

  // fault: the connection breaks before the effect of three writes in a row
  test('each time', async () => {
    const faults = [1, 2, 3].map((call): Fault => ({ method: 'insertAndClaim', call, when: 'before' }));
    const engine = quietEngine(faults);
    const claims = [await waiting(engine), await waiting(engine), await waiting(engine)];
    await expect(engine.enqueue()).rejects.toThrow('The connection broke');
    const ids = [await engine.enqueue(), await engine.enqueue(), await engine.enqueue()];
    const given = await Promise.all(claims.map((claim) => claim.ids));
    expect(given.flat().sort()).toEqual(ids.sort());
  });
});
