import { expect, test } from 'vitest';
import { WaybillError } from '../errors.ts';
import type { Outcome } from '../job/outcome.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { aJob } from '../testing/factories.ts';
import { memoryBlobs } from '../testing/memory-blobs.ts';
import { TestClock } from '../testing/test-clock.ts';
import { type TestEngine, testEngine } from '../testing/test-engine.ts';

const DAY_MS = 86_400_000;
/** From the first day of the test clock, this ends shortly before the last moment that a job may wait for. */
const NEARLY_TOO_FAR = '+P80350D';
const completed: Outcome = { kind: 'completed', result: null };

/** Whatever else is wrong, a plain schedule, a lease and a cron go on. */
async function expectOthersToGoOn({ waybill, clock }: TestEngine): Promise<void> {
  const plain = (queue: string, more = {}) => ({ type: 'test.plain', args: [], options: { queue, ...more } });
  const { job: scheduled } = await waybill.jobs.enqueue(plain('scheduled', { scheduled_at: '+PT2S' }));
  const { job: lost } = await waybill.jobs.enqueue(plain('lost'));
  await waybill.jobs.claim({ queues: ['lost'], leaseMs: 3_000 });
  await waybill.crons.put({ name: 'good', expression: '* * * * *', job_template: plain('ticks') });
  await clock.advance(5_000);
  expect(await waybill.jobs.get(scheduled.id)).toMatchObject({ state: 'available' });
  expect(await waybill.jobs.get(lost.id)).toMatchObject({ state: 'available', outcome: 'lost' });
  await clock.advance(60_000);
  expect(await waybill.jobs.claim({ queues: ['ticks'] })).toHaveLength(1);
}

test.each([
  ['a factor beyond all numbers', { backoff_strategy: 'polynomial', backoff_coefficient: 1_000, max_attempts: 9 }, 4],
  ['very many attempts', { backoff_strategy: 'exponential', backoff_coefficient: 2, max_attempts: 5_000 }, 1_100],
] as const)('A1: no pause and %s give a retry at once, not a row that stops the sweep', async (_, retry, runs) => {
  const engine = testEngine();
  // Enqueue refuses such a policy; rows of earlier versions may have one.
  const spec = { args: [], meta: {}, retry: { initial_interval: 'PT0S', ...retry } };
  const made = aJob({ timeoutMs: 1_000, spec });
  await engine.store.insert([{ jobs: [made] }]);
  const { id } = made.job;
  for (let run = 1; run <= runs; run += 1) {
    expect((await engine.claimOne()).job).toMatchObject({ id, attempt: run });
    await engine.clock.advance(1_000);
    expect(await engine.waybill.jobs.get(id)).toMatchObject({ state: 'available', outcome: 'timed_out' });
  }
  await expectOthersToGoOn(engine);
});

test.each([
  ['the year 9999', Date.UTC(9999, 11, 31)],
  ['no end', Number.POSITIVE_INFINITY],
])('A1: a snooze until %s leaves a row that can be read, listed and cancelled', async (_, until) => {
  const engine = testEngine();
  const id = await engine.enqueue();
  const { token } = await engine.claimOne();
  const snoozed = await engine.waybill.jobs.settle({ id, leaseToken: token, outcome: { kind: 'snoozed', until } });
  expect(snoozed.scheduledAt).toBe(Date.UTC(2250, 0, 1));
  expect(Number.isSafeInteger(snoozed.seq)).toBe(true);
  await engine.waybill.jobs.cancel(id);
  await expectOthersToGoOn(engine);
});

test('A1: a snooze until no moment at all comes back at once', async () => {
  const engine = testEngine();
  const id = await engine.enqueue();
  const { token } = await engine.claimOne();
  await engine.waybill.jobs.settle({ id, leaseToken: token, outcome: { kind: 'snoozed', until: Number.NaN } });
  await engine.clock.advance(1);
  expect((await engine.claimOne()).job.id).toBe(id);
});

test('A1: a workflow whose callback cannot be made is put off, named by health and told by an event', async () => {
  const engine = testEngine();
  const { waybill, clock } = engine;
  const callback = { type: 'test.callback', args: [], options: { scheduled_at: NEARLY_TOO_FAR } };
  const flow = { type: 'batch', jobs: [{ type: 'test.node', args: [] }], callbacks: { on_complete: callback } };
  await waybill.workflows.create(flow);
  clock.jump(100 * DAY_MS);
  const { job, token } = await engine.claimOne();
  await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: completed });
  await expectOthersToGoOn(engine);
  const { events } = await waybill.events.read({ filter: { jobIds: [job.id] }, limit: 100 });
  const told = events.filter(({ type }) => type === 'job.maintenance_failed');
  expect(told[0]!.data).toMatchObject({ reason: expect.stringContaining('between the years 1970 and 2250') });
  // Each pause is twice the last one, so a minute holds about six tries.
  expect(told.length).toBeGreaterThanOrEqual(4);
  expect(told.length).toBeLessThanOrEqual(8);
  const health = await waybill.health();
  expect(health).toMatchObject({ status: 'degraded', store: { status: 'ok' } });
  expect(health.maintenance).toMatchObject({
    status: 'failing',
    failing: 1,
    items: [{ kind: 'job', id: job.id, failures: told.length + 1, reason: told[0]!.data['reason'] }],
  });
});

test('A1: a workflow that fails does not keep another one from ending in the same sweep', async () => {
  const engine = testEngine({ maintenance: false });
  const { waybill, clock } = engine;
  const create = (options: object) =>
    waybill.workflows.create({
      type: 'batch',
      jobs: [{ type: 'test.node', args: [] }],
      callbacks: { on_complete: { type: 'test.callback', args: [], options } },
    });
  const flows = [await create({ scheduled_at: NEARLY_TOO_FAR }), await create({}), await create({})];
  clock.jump(100 * DAY_MS);
  const leases = await waybill.jobs.claim({ queues: ['default'], count: 3 });
  const settled = leases.map(({ job, token }) =>
    waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: completed }),
  );
  await Promise.all(settled);
  testEngine({ on: engine.store, clock });
  await clock.advance(5_000);
  const states = await Promise.all(flows.map(async ({ id }) => (await waybill.workflows.get(id)).state));
  expect(states).toEqual(['running', 'completed', 'completed']);
});

test('A1: a cron whose job cannot be made is put off and does not keep the others from firing', async () => {
  const engine = testEngine();
  const { waybill, clock } = engine;
  const template = { type: 'test.tick', args: [], options: { queue: 'bad', scheduled_at: NEARLY_TOO_FAR } };
  await waybill.crons.put({ name: 'bad', expression: '0 0 1 1 *', job_template: template });
  clock.jump(365 * DAY_MS);
  await expectOthersToGoOn(engine);
  const { maintenance } = await waybill.health();
  expect(maintenance).toMatchObject({ status: 'failing', items: [{ kind: 'cron', tenant: '', id: 'bad' }] });
  expect(maintenance!.items[0]!.failures).toBeLessThanOrEqual(8);
  await waybill.crons.remove('bad');
  await clock.advance(2_000);
  expect((await waybill.health()).status).toBe('ok');
});

test('A1: a blob store that is away holds up the node that joins a workflow, and nothing else', async () => {
  const { store, setAway } = memoryBlobs();
  const engine = testEngine({ blobs: { store, threshold: 1_000 } });
  const { waybill, clock } = engine;
  const first = { id: 'a', type: 'test.a', args: [] };
  const { id } = await waybill.workflows.create({ nodes: [first, { id: 'open', type: 'test.open', args: [] }] });
  const leases = await waybill.jobs.claim({ queues: ['default'], count: 2 });
  const parent = leases.find(({ job }) => job.type === 'test.a')!;
  const outcome: Outcome = { kind: 'completed', result: 'x'.repeat(2_000) };
  await waybill.jobs.settle({ id: parent.job.id, leaseToken: parent.token, outcome });
  setAway(true);
  await waybill.workflows.addNodes(id, [{ id: 'b', type: 'test.b', args: [], depends_on: ['a'] }]);
  await expectOthersToGoOn(engine);
  expect((await waybill.health()).maintenance).toMatchObject({ status: 'failing', failing: 1 });
  setAway(false);
  await clock.advance(120_000);
  expect((await engine.claimOne()).job.type).toBe('test.b');
  expect((await waybill.health()).status).toBe('ok');
});

test('A1: a row that the store refuses to write is put off alone', async () => {
  const engine = testEngine();
  const { waybill, clock, store } = engine;
  const apply = store.apply.bind(store);
  const bad = await engine.enqueue({ scheduled_at: '+PT1S' });
  const many = await Promise.all(Array.from({ length: 40 }, () => engine.enqueue({ scheduled_at: '+PT1S' })));
  store.apply = async (changes) => {
    if (changes.some(({ job }) => job.id === bad)) throw new Error('This row violates a constraint.');
    return apply(changes);
  };
  await clock.advance(2_000);
  for (const id of many) expect(await waybill.jobs.get(id)).toMatchObject({ state: 'available' });
  expect(await waybill.jobs.get(bad)).toMatchObject({ state: 'scheduled' });
  await expectOthersToGoOn(engine);
  expect((await waybill.health()).maintenance).toMatchObject({ failing: 1, items: [{ id: bad }] });
  store.apply = apply;
  await clock.advance(120_000);
  expect(await waybill.jobs.get(bad)).toMatchObject({ state: 'available' });
});

test('A1: a store that does not answer is nobody else’s fault, and health tells that sweeping fails', async () => {
  const engine = testEngine();
  const { waybill, clock, store } = engine;
  const [due, ping] = [store.due, store.ping];
  const gone = async () => Promise.reject(new Error('connection refused'));
  store.due = gone;
  store.ping = gone;
  await clock.advance(3_000);
  expect((await waybill.health()).maintenance).toMatchObject({
    status: 'failing',
    failing: 0,
    reason: expect.stringContaining('Sweeping'),
  });
  Object.assign(store, { due, ping });
  await clock.advance(3_000);
  expect((await waybill.health()).status).toBe('ok');
});

test.each(['resource_exhausted', 'unavailable'] as const)(
  'A1: while a store takes no writes (%s), no item is to blame, and all go on as soon as it does',
  async (code) => {
    const engine = testEngine();
    const { waybill, clock, store } = engine;
    const ids = await Promise.all(Array.from({ length: 40 }, () => engine.enqueue({ scheduled_at: '+PT1S' })));
    const template = { type: 'test.tick', args: [], options: { queue: 'ticks' } };
    await waybill.crons.put({ name: 'good', expression: '* * * * *', job_template: template, misfire_policy: 'skip' });
    const [apply, fire] = [store.apply, store.crons.fire];
    const refuse = async () => Promise.reject(new WaybillError(code, 'No writes now.'));
    store.apply = refuse;
    Object.assign(store.crons, { fire: refuse });
    await clock.advance(90_000);
    expect((await waybill.health()).maintenance).toMatchObject({ status: 'failing', failing: 0 });
    store.apply = apply;
    Object.assign(store.crons, { fire });
    await clock.advance(2_000);
    for (const id of ids) expect(await waybill.jobs.get(id)).toMatchObject({ state: 'available' });
    expect(await waybill.jobs.claim({ queues: ['ticks'] })).toHaveLength(1);
    expect((await waybill.health()).status).toBe('ok');
  },
);

test('A1: a cron that was repaired is tried at once, and one that was removed is forgotten', async () => {
  const engine = testEngine();
  const { waybill, clock } = engine;
  const cron = (scheduled_at: string) => ({
    name: 'repaired',
    expression: '* * * * *',
    job_template: { type: 'test.tick', args: [], options: { queue: 'ticks', scheduled_at } },
  });
  await waybill.crons.put(cron(NEARLY_TOO_FAR));
  clock.jump(100 * DAY_MS);
  for (let minute = 0; minute < 30; minute += 1) await clock.advance(60_000);
  expect((await waybill.health()).maintenance).toMatchObject({ failing: 1, items: [{ id: 'repaired' }] });
  await waybill.crons.put(cron('+PT1S'));
  await clock.advance(61_000);
  await clock.advance(2_000);
  expect(await waybill.jobs.claim({ queues: ['ticks'] })).toHaveLength(1);
  expect((await waybill.health()).status).toBe('ok');
});

test('A1: rows that are due for nothing are put off, however many they are', async () => {
  const engine = testEngine();
  const { waybill, clock, store } = engine;
  const ids = await Promise.all(Array.from({ length: 600 }, () => engine.enqueue({ scheduled_at: '+P1D' })));
  const rows = (await store.get(ids.map((id) => ({ tenant: '', id })))).filter((row) => row !== null);
  // Somebody has moved their alarms by hand.
  const changes = rows.map((job) => ({
    expect: { by: 'version', version: job.version, nextAt: job.nextAt, holdsSlot: false } as const,
    job: { ...job, nextAt: clock.now() },
    events: [],
  }));
  await store.apply(changes);
  const before = store.calls('due');
  await expectOthersToGoOn(engine);
  expect(store.calls('due') - before).toBeLessThan(200);
  expect((await waybill.health()).maintenance).toMatchObject({ status: 'failing', failing: 600 });
});

test('A1: what one batch of a sweep has written is counted although another one fails', async () => {
  const lines: string[] = [];
  const write = (_: object, message: string) => void lines.push(message);
  const clock = new TestClock();
  const inner = memoryStore({ clock });
  const on = { ...inner, capabilities: { ...inner.capabilities, maxBatch: 250 } };
  const engine = testEngine({ on, clock, logger: { debug: write, info: write, warn: write, error: write } });
  const { waybill, store } = engine;
  const ids = await Promise.all(Array.from({ length: 251 }, () => engine.enqueue()));
  await waybill.jobs.claim({ queues: ['default'], count: 251, leaseMs: 1_000 });
  const apply = store.apply.bind(store);
  store.apply = async (changes) => {
    if (changes.some(({ job }) => job.id === ids.at(-1))) throw new Error('This row violates a constraint.');
    return apply(changes);
  };
  await clock.advance(2_000);
  expect(lines.filter((line) => line.includes('The lease ran out'))).toHaveLength(250);
});

test('A15: leases that are held back after a clock jump do not make the sweep spin', async () => {
  const engine = testEngine();
  const { waybill, clock, store } = engine;
  await Promise.all(Array.from({ length: 600 }, () => engine.enqueue()));
  await waybill.jobs.claim({ queues: ['default'], count: 600, leaseMs: 60_000 });
  await clock.advance(1_000);
  clock.jump(3_600_000);
  const before = store.calls('due');
  for (let second = 0; second < 5; second += 1) await clock.advance(1_000);
  expect(store.calls('due') - before).toBeLessThanOrEqual(10);
});

// fault: more rows that cannot be read come up first than are remembered one by one
test('guarantee 12: the sweep gets to the rows behind any number that cannot be read', async () => {
  const { waybill, clock, store, enqueue } = testEngine();
  const unreadable = Array.from({ length: 12_000 }, (_, n) => ({
    ...({ kind: 'job', tenant: '', id: `damaged-${n}` } as const),
    cause: new Error('damaged'),
  }));
  const due = store.due.bind(store);
  store.due = async (query) => {
    const met = unreadable.slice(0, query.limit);
    const found = await due({ ...query, limit: query.limit - met.length + 1 });
    return query.limit > met.length
      ? { ...found, unreadable: met }
      : { ...found, jobs: [], unreadable: met, nextAt: query.now };
  };
  const id = await enqueue({ scheduled_at: '+PT1S' });
  for (let second = 0; second < 10; second += 1) await clock.advance(1_000);
  expect(await waybill.jobs.get(id)).toMatchObject({ state: 'available' });
  expect((await waybill.health()).maintenance).toMatchObject({ status: 'failing', failing: 10_000 });
});
