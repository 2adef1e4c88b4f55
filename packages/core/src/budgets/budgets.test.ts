import { describe, expect, test } from 'vitest';
import { scoped } from '../access/scoped.ts';
import type { LoggedEvent } from '../events/job-event.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { type TestEngine, testEngine } from '../testing/test-engine.ts';
import type { Lease, SpendCall, Spending, Waybill } from '../waybill.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const AT_NOON = Date.UTC(2026, 10, 30, 12);

const engineAtNoon = (over: Parameters<typeof testEngine>[0] = {}): TestEngine =>
  testEngine({ clock: new TestClock(AT_NOON), maintenance: false, ...over });

async function leaseOf({ enqueue, claimOne }: TestEngine): Promise<Lease> {
  await enqueue();
  return claimOne({ leaseMs: 40 * DAY });
}

type Spend = (amounts: SpendCall['amounts'], more?: Partial<SpendCall>) => Promise<Spending>;
const spender =
  ({ jobs }: Waybill, { job, token }: Lease): Spend =>
  (amounts, more) =>
    jobs.spend({ id: job.id, leaseToken: token, amounts, ...more });

const told = async ({ waybill }: TestEngine): Promise<LoggedEvent[]> =>
  (await waybill.events.read({ filter: { types: ['budget.warned', 'budget.exceeded'] } })).events;

const USD = { unit: 'usd', period: 'month', limit: 50 } as const;

describe('a run spends', () => {
  test('of every budget of its units, of the tenant and of the key that it names', async () => {
    const made = engineAtNoon();
    const { budgets } = made.waybill;
    await budgets.set(USD);
    await budgets.set({ unit: 'usd', period: 'day', limit: 5 });
    await budgets.set({ unit: 'usd', period: 'total', limit: 4, key: 'ada' });
    await budgets.set({ unit: 'usd', period: 'total', limit: 4, key: 'bob' });
    await budgets.set({ unit: 'pages', period: 'day', limit: 4 });
    const spend = spender(made.waybill, await leaseOf(made));
    const { budgets: found, exceeded } = await spend({ usd: 4.5, tokens: 1_000 }, { key: 'ada' });
    expect(found.map(({ id, spent, left }) => [id, spent, left])).toEqual([
      ['usd:day', 4.5, 0.5],
      ['usd:month', 4.5, 45.5],
      ['usd:total:ada', 4.5, 0],
    ]);
    expect(exceeded.map(({ id }) => id)).toEqual(['usd:total:ada']);
    expect(await budgets.get('usd:total:bob')).toMatchObject({ spent: 0, key: 'bob' });
    expect(await budgets.get('pages:day')).toMatchObject({ spent: 0, key: null });
  });

  test('an amount of 0 asks, and writes nothing', async () => {
    const made = engineAtNoon();
    await made.waybill.budgets.set(USD);
    const spend = spender(made.waybill, await leaseOf(made));
    const before = made.store.calls('records.put');
    expect((await spend({ usd: 0 }, { number: 1 })).budgets).toMatchObject([{ id: 'usd:month', left: 50 }]);
    expect(made.store.calls('records.put')).toBe(before);
  });

  test('where nothing is limited, nothing is written', async () => {
    const made = engineAtNoon();
    const spend = spender(made.waybill, await leaseOf(made));
    expect(await spend({ usd: 3 })).toEqual({ budgets: [], exceeded: [] });
    expect(made.store.calls('records.put')).toBe(0);
  });

  test('a call that is sent again under its number counts once, also by another server and by a later one', async () => {
    const made = engineAtNoon();
    await made.waybill.budgets.set(USD);
    const spend = spender(made.waybill, await leaseOf(made));
    for (const [number, spent] of [
      [1, 2],
      [1, 2],
      [2, 4],
      [1, 4],
      [2, 4],
      [5, 6],
    ] as const)
      expect((await spend({ usd: 2 }, { number })).budgets[0]!.spent).toBe(spent);
  });

  test('the numbers of the next run begin anew', async () => {
    const made = engineAtNoon();
    const { waybill, claimOne } = made;
    await waybill.budgets.set(USD);
    const first = await leaseOf(made);
    await spender(waybill, first)({ usd: 2 }, { number: 7 });
    await waybill.jobs.settle({ id: first.job.id, leaseToken: first.token, outcome: { kind: 'requeued' } });
    const second = await claimOne();
    expect((await spender(waybill, second)({ usd: 2 }, { number: 1 })).budgets[0]!.spent).toBe(4);
  });

  test('a run that does not hold its job any more spends nothing', async () => {
    const made = engineAtNoon();
    const { waybill } = made;
    await waybill.budgets.set(USD);
    const lease = await leaseOf(made);
    await waybill.jobs.cancel(lease.job.id);
    await expect(spender(waybill, lease)({ usd: 2 })).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await waybill.budgets.get('usd:month')).toMatchObject({ spent: 0 });
  });

  test('a write whose answer is lost counts once', async () => {
    const clock = new TestClock(AT_NOON);
    const store = memoryStore({ clock });
    const made = engineAtNoon({ clock, on: store });
    await made.waybill.budgets.set(USD);
    const lease = await leaseOf(made);
    const { put } = store.records;
    store.records.put = async (requests) => {
      store.records.put = put;
      await put(requests);
      throw new Error('The answer is lost.');
    };
    const spend = spender(made.waybill, lease);
    await expect(spend({ usd: 2 }, { number: 1 })).rejects.toThrow();
    expect((await spend({ usd: 2 }, { number: 1 })).budgets[0]!.spent).toBe(2);
  });

  test('fractions add up as people expect', async () => {
    const made = engineAtNoon();
    await made.waybill.budgets.set(USD);
    const spend = spender(made.waybill, await leaseOf(made));
    for (let call = 0; call < 9; call += 1) await spend({ usd: 0.1 });
    expect((await spend({ usd: 0.1 })).budgets[0]).toMatchObject({ spent: 1, left: 49 });
  });

  test.each([
    [{ amounts: {} }, 'amounts'],
    [{ amounts: { usd: -1 } }, 'amounts.usd'],
    [{ amounts: { usd: Number.NaN } }, 'amounts.usd'],
    [{ amounts: { usd: null } }, 'amounts.usd'],
    [{ amounts: { US$: 1 } }, 'amounts.US$'],
    [{ amounts: { usd: 1 }, key: '' }, 'key'],
    [{ amounts: { usd: 1 }, key: 'two\nlines' }, 'key'],
    [{ amounts: { usd: 1 }, key: 'ä'.repeat(200) }, 'key'],
    [{ amounts: { usd: 1 }, number: 0 }, 'number'],
  ])('refuses %j', async (call, field) => {
    const made = engineAtNoon();
    const { job, token } = await leaseOf(made);
    const refused = made.waybill.jobs.spend({ id: job.id, leaseToken: token, ...(call as { amounts: never }) });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', details: { field } });
  });
});

describe('a period', () => {
  test('ends at midnight of UTC, and the next one begins with nothing spent', async () => {
    const made = engineAtNoon();
    const { waybill, clock } = made;
    for (const period of ['day', 'month', 'total'] as const) await waybill.budgets.set({ ...USD, period });
    const spend = spender(waybill, await leaseOf(made));
    const spentBy = async (usd: number) =>
      Object.fromEntries((await spend({ usd })).budgets.map(({ period, spent }) => [period, spent]));
    const ends = (await spend({ usd: 1 })).budgets.map(({ endsAt }) => endsAt);
    const midnight = Date.UTC(2026, 11, 1);
    expect(ends).toEqual([midnight, midnight, null]);
    clock.jump(midnight - 1 - AT_NOON);
    expect(await spentBy(1)).toEqual({ day: 2, month: 2, total: 2 });
    clock.jump(1);
    expect(await waybill.budgets.get('usd:month')).toMatchObject({ spent: 0, endsAt: Date.UTC(2027, 0, 1) });
    expect(await spentBy(1)).toEqual({ day: 1, month: 1, total: 3 });
    clock.jump(DAY);
    expect(await spentBy(1)).toEqual({ day: 1, month: 2, total: 4 });
  });
});

describe('the log tells', () => {
  test('once of 80 %, and once of the limit, in each period', async () => {
    const made = engineAtNoon();
    const { waybill, clock } = made;
    await waybill.budgets.set({ ...USD, period: 'day', limit: 10 });
    const spend = spender(waybill, await leaseOf(made));
    for (const usd of [7, 1, 1, 1, 1]) await spend({ usd });
    const types = async () => (await told(made)).map(({ type, data }) => `${type} ${data['spent']}`);
    expect(await types()).toEqual(['budget.warned 8', 'budget.exceeded 10']);
    clock.jump(DAY);
    await spend({ usd: 20 });
    expect((await types()).slice(2)).toEqual(['budget.exceeded 20']);
  });

  test('anew of another limit', async () => {
    const made = engineAtNoon();
    const { waybill } = made;
    await waybill.budgets.set({ ...USD, limit: 1 });
    const spend = spender(waybill, await leaseOf(made));
    await spend({ usd: 2 });
    await waybill.budgets.set({ ...USD, limit: 4 });
    expect((await spend({ usd: 1 })).exceeded).toEqual([]);
    await spend({ usd: 1 });
    expect((await told(made)).map(({ type }) => type)).toEqual(['budget.exceeded', 'budget.exceeded']);
  });

  test('those of the tenant, and nobody else', async () => {
    const made = engineAtNoon();
    const { waybill } = made;
    await waybill.budgets.set({ ...USD, limit: 1 }, { tenant: 'acme' });
    await waybill.jobs.enqueue({ type: 'test.job', args: [] }, { tenant: 'acme' });
    const [lease] = await waybill.jobs.claim({ queues: ['default'], tenant: 'acme' });
    await spender(waybill, lease!)({ usd: 2 }, { tenant: 'acme' });
    expect(await told(made)).toEqual([]);
    const filter = { tenant: 'acme', types: ['budget.exceeded'] } as const;
    expect((await waybill.events.read({ filter })).events).toMatchObject([{ subject: 'usd:month' }]);
  });
});

describe('who may change budgets', () => {
  const ADMIN = { id: 'ada', tenant: 'a', scopes: ['admin'] } as const;

  test('a tenant sets those of its keys, and only looks at its own', async () => {
    const { waybill } = engineAtNoon();
    await waybill.budgets.set(USD, { tenant: 'a' });
    const { budgets } = scoped(waybill, ADMIN);
    expect(await budgets.set({ ...USD, key: 'k' })).toMatchObject({ tenant: 'a', id: 'usd:month:k' });
    expect(await budgets.get('usd:month')).toMatchObject({ limit: 50 });
    for (const call of [() => budgets.set({ ...USD, limit: 99 }), () => budgets.remove('usd:month')])
      await expect(call()).rejects.toMatchObject({ code: 'forbidden', message: expect.stringContaining('operators') });
    // Not as a record either.
    const records = scoped(waybill, ADMIN).records!;
    const { version, value } = await records.get('budget', 'usd:month');
    const raised = { kind: 'budget', id: 'usd:month', value: { ...value, limit: 99 }, expected: version };
    for (const call of [() => records.put(raised), () => records.remove('budget', 'usd:month')])
      await expect(call()).rejects.toMatchObject({ code: 'forbidden', hint: 'Use waybill.budgets.' });
    expect(await budgets.get('usd:month')).toMatchObject({ limit: 50 });
  });
});

describe('budgets', () => {
  test('are listed page by page, changed without losing what was spent, and removed', async () => {
    const made = engineAtNoon();
    const { budgets } = made.waybill;
    for (const key of ['a', 'b', 'c']) await budgets.set({ ...USD, key });
    const page = await budgets.list({ limit: 2 });
    expect(page.items.map(({ key }) => key)).toEqual(['a', 'b']);
    expect((await budgets.list({ limit: 2, cursor: page.cursor! })).items.map(({ key }) => key)).toEqual(['c']);
    const spend = spender(made.waybill, await leaseOf(made));
    await spend({ usd: 3 }, { key: 'a' });
    expect(await budgets.set({ ...USD, key: 'a', limit: 2 })).toMatchObject({ spent: 3, left: 0, isExceeded: true });
    expect(await budgets.remove('usd:month:a')).toMatchObject({ spent: 3 });
    await expect(budgets.get('usd:month:a')).rejects.toMatchObject({ code: 'not_found' });
    await expect(budgets.remove('usd:month:a')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a key may have colons and spaces', async () => {
    const { budgets } = engineAtNoon().waybill;
    const { id } = await budgets.set({ ...USD, key: 'crm: acme & co' });
    expect(await budgets.get(id)).toMatchObject({ key: 'crm: acme & co', unit: 'usd', period: 'month' });
  });

  test.each([
    [{ ...USD, unit: 'US$' }, 'unit'],
    [{ ...USD, unit: undefined }, 'budget.unit'],
    [{ ...USD, period: 'week' }, 'budget.period'],
    [{ ...USD, period: undefined }, 'period'],
    [{ ...USD, limit: 0 }, 'limit'],
    [{ ...USD, limit: -1 }, 'budget.limit'],
    [{ ...USD, limit: '50' }, 'budget.limit'],
    [{ ...USD, key: '' }, 'key'],
    [{ ...USD, per: 'day' }, 'budget.per'],
  ])('refuses %j', async (budget, field) => {
    const refused = engineAtNoon().waybill.budgets.set(budget as never);
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', details: { field } });
  });

  test.each(['usd', 'usd:week', 'usd:month:', '', ':day', 'usd:month:nobody'])('there is no %j', async (id) => {
    await expect(engineAtNoon().waybill.budgets.get(id)).rejects.toMatchObject({ code: 'not_found' });
  });
});
