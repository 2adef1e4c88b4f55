import { expect } from 'vitest';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { ReasonCode } from '../explain/codes.ts';
import type { Outcome } from '../job/outcome.ts';
import { LATEST_MOMENT } from '../job/rank.ts';
import type { Store } from '../store/store.ts';
import type { Lease, Waybill } from '../waybill.ts';
import { settleChange } from './changes.ts';
import { until } from './gate-flows.ts';
import type { Damage } from './store/bench.ts';
import type { TestClock } from './test-clock.ts';

/** An engine on a store of its own, and what a test does with it. */
export interface ExplainWorld {
  waybill: Waybill;
  store: Store;
  clock: TestClock;
  blobs: BlobStore;
  /** Absent where nothing but the store gets at its rows. */
  damage?: Damage;
  enqueue(options?: Record<string, unknown>, args?: string[]): Promise<string>;
  claim(queue?: string): Promise<Lease>;
  settle(lease: Lease, outcome: Outcome): Promise<string>;
  /** A worker that sends heartbeats. */
  worker(id?: string): Promise<void>;
  /** Time passes, and upkeep does what is due meanwhile. */
  upkeep(ms: number): Promise<void>;
  graph(nodes: object[]): Promise<{ id: string; nodeId(name: string): string }>;
}

/** Brings a job into a state, and says which job that is and what its reason tells. */
export type ExplainCase = (world: ExplainWorld) => Promise<[id: string, reason: object]>;

const COMPLETED: Outcome = { kind: 'completed', result: { pages: ['a', 'b'] } };
const FAILED = { kind: 'failed', error: { code: 'smtp', message: 'No answer.' } } as const;
const UNKNOWN = {
  kind: 'snoozed',
  error: { code: 'unknown_type', message: "Worker 'w' has no task 'test.job'." },
} as const;
const HOUR_MS = 3_600_000;
const ONE = { rate_limit: { key: 'one', concurrency: 1 } };
const LARGE = ['x'.repeat(5_000)];

const iso = (ms: number): string => new Date(ms).toISOString();
const says = (text: string) => ({ message: expect.stringContaining(text) });
const hints = (text: string) => ({ hint: expect.stringContaining(text) });
const naming = (...ids: string[]) => ({ jobs: ids.map((id) => expect.objectContaining({ id })) });
const job = { type: 'test.job', args: [] };

/** One state for each reason: a new code does not compile without its case. Those of damage need a store that can be damaged. */
export const EXPLAIN_CASES: Readonly<Record<ReasonCode, ExplainCase>> = {
  completed: async ({ enqueue, claim, settle }) => {
    await enqueue();
    const id = await settle(await claim(), COMPLETED);
    return [id, { ...says('completed at'), ...hints(`waybill jobs retry ${id}`), details: { run: 1 } }];
  },
  skipped: async ({ graph, claim, settle }) => {
    const when = { parent: 'check', path: 'ok', equals: true };
    const { nodeId } = await graph([{ id: 'check' }, { id: 'send', depends_on: ['check'], when }]);
    await settle(await claim(), { kind: 'completed', result: { ok: false } });
    return [nodeId('send'), { ...says('its condition was false'), details: { reason: 'condition_false' } }];
  },
  cancelled: async ({ waybill, enqueue }) => {
    const id = await enqueue();
    await waybill.jobs.cancel(id, { by: 'ann', reason: 'not needed' });
    return [id, { ...says("by 'ann'"), details: { by: 'ann', reason: 'not needed' } }];
  },
  replaced: async ({ enqueue }) => {
    const unique = { keys: ['type'], on_conflict: 'replace' };
    const id = await enqueue({ unique });
    const owner = await enqueue({ unique });
    return [id, { ...says('same unique key'), ...naming(owner) }];
  },
  discarded: async ({ enqueue, claim, settle }) => {
    const id = await enqueue({ retry: { max_attempts: 1, on_exhaustion: 'dead_letter' } });
    await settle(await claim(), FAILED);
    const details = { dead_letter: true, error_code: 'smtp' };
    return [id, { ...says('attempt 1 of 1: smtp: No answer.'), ...hints(`waybill jobs retry ${id}`), details }];
  },
  expired: async ({ clock, enqueue, upkeep }) => {
    const id = await enqueue({ expires_at: iso(clock.now() + 1_000) });
    await upkeep(5_000);
    return [id, says('before a worker had started it')];
  },

  running: async ({ clock, enqueue, claim, worker }) => {
    await worker();
    const id = await enqueue();
    await claim();
    const until = iso(clock.now() + 30_000);
    return [id, { ...says("Worker 'worker-1' runs it"), details: { worker_id: 'worker-1', until } }];
  },
  lease_expired: async ({ clock, enqueue, claim }) => {
    const id = await enqueue();
    await claim();
    await clock.advance(31_000);
    return [id, { ...says('no sweep has taken it back'), ...hints('waybill doctor') }];
  },

  scheduled: async ({ clock, enqueue }) => {
    const until = iso(clock.now() + HOUR_MS);
    return [await enqueue({ scheduled_at: until }), { ...says(`starts at ${until}`), details: { until } }];
  },
  retry_backoff: async ({ waybill, enqueue, claim, settle }) => {
    const id = await enqueue();
    await settle(await claim(), FAILED);
    const until = iso((await waybill.jobs.get(id)).scheduledAt!);
    const details = { until, attempt: 1, error_code: 'smtp' };
    return [id, { ...says('Attempt 1 of 3 failed with smtp: No answer.'), ...hints('waybill jobs show'), details }];
  },
  snoozed: async ({ clock, enqueue, claim, settle }) => {
    const id = await enqueue();
    const until = clock.now() + HOUR_MS;
    await settle(await claim(), { kind: 'snoozed', until });
    return [id, { ...says('put it off'), details: { until: iso(until) } }];
  },
  question: async ({ waybill, clock, enqueue, claim, settle }) => {
    const id = await enqueue();
    const lease = await claim();
    const ask = { id, leaseToken: lease.token, key: 'deploy', text: 'Deploy now?', choices: ['yes', 'no'] };
    const asked = await waybill.jobs.ask(ask);
    await settle(lease, { kind: 'snoozed', until: clock.now() + 10_000 });
    await waybill.jobs.ask(ask);
    const details = { question_id: asked.id, key: 'deploy', until: iso(asked.expiresAt), choices: ['yes', 'no'] };
    return [id, { ...says("'Deploy now?'"), ...hints(`waybill questions answer ${asked.id} CHOICE`), details }];
  },
  budget: async ({ waybill, enqueue, claim, settle }) => {
    const { endsAt } = await waybill.budgets.set({ unit: 'usd', period: 'day', limit: 5, key: null });
    const id = await enqueue();
    const lease = await claim();
    await waybill.jobs.spend({ id, leaseToken: lease.token, amounts: { usd: 6 } });
    await settle(lease, { kind: 'snoozed', until: endsAt! });
    const details = { budget: 'usd:day', spent: 6, limit: 5, until: iso(endsAt!) };
    return [id, { ...says("the budget 'usd:day' begins anew"), details }];
  },
  unknown_type: async ({ waybill, enqueue, claim, settle }) => {
    const id = await enqueue({ queue: 'mail' });
    await settle(await claim('mail'), UNKNOWN);
    const until = iso((await waybill.jobs.get(id)).scheduledAt!);
    const hint = 'Start a worker that has the task: waybill work MODULE --queues mail';
    return [id, { ...says("Worker 'w' has no task 'test.job'."), hint, details: { type: 'test.job', until } }];
  },
  overdue: async ({ clock, enqueue }) => {
    const since = iso(clock.now() + 1_000);
    const id = await enqueue({ scheduled_at: since });
    await clock.advance(60_000);
    return [id, { ...says(`due since ${since}`), ...hints('waybill doctor'), details: { since } }];
  },

  unreadable: async ({ enqueue, damage }) => {
    const id = await enqueue();
    await damage!.job({ tenant: '', id });
    return [id, { ...says('cannot be read'), ...hints('waybill doctor') }];
  },
  payload_missing: async ({ enqueue, blobs }) => {
    const id = await enqueue({}, LARGE);
    await blobs.deletePrefix(`jobs/${id}/`);
    return [id, { ...says('is gone from the blob store'), ...hints('blob store') }];
  },
  upkeep_failing: async ({ waybill, clock, claim, settle, upkeep }) => {
    // Its job would wait for a moment that no row can have.
    const far = `+PT${Math.floor((LATEST_MOMENT - clock.now()) / 1_000) - 1}S`;
    const callbacks = { on_complete: { ...job, options: { scheduled_at: far } } };
    const { id } = await waybill.workflows.create({ type: 'batch', jobs: [job], callbacks });
    await clock.advance(2_000);
    await settle(await claim(), COMPLETED);
    await upkeep(1_000);
    const [node] = (await waybill.workflows.nodes(id)).items;
    return [node!.id, { ...says('The sweep has failed'), details: { until: iso(node!.nextAt!) } }];
  },
  unchecked: async ({ graph, damage }) => {
    const { nodeId } = await graph([{ id: 'a' }, { id: 'b', depends_on: ['a'] }]);
    await damage!.job({ tenant: '', id: nodeId('a') });
    return [nodeId('b'), says('Its workflow could not be looked at.')];
  },

  queue_paused: async ({ waybill, enqueue }) => {
    const id = await enqueue({ queue: 'mail' });
    await waybill.queues.pause('mail');
    return [id, { ...says("'mail' is paused"), hint: 'waybill queues resume mail' }];
  },
  queue_limit: async ({ waybill, enqueue, claim }) => {
    await waybill.queues.setLimit('mail', { concurrency: 1, rate: null });
    const first = await enqueue({ queue: 'mail' });
    await claim('mail');
    const id = await enqueue({ queue: 'mail' });
    return [id, { ...says('1 of 1 jobs are active'), ...naming(first), details: { concurrency: 1, active: 1 } }];
  },
  limit: async ({ enqueue }) => {
    const first = await enqueue(ONE);
    const id = await enqueue({ ...ONE, queue: 'other' });
    const details = { key: 'one', concurrency: 1, holders: 1, parked: 1 };
    return [id, { ...says("the limit 'one': 1 of 1 slots are held"), ...naming(first), details }];
  },
  tenant_limit: async ({ waybill, enqueue, claim }) => {
    await waybill.tenants.setLimits('', { concurrency: 1 });
    const first = await enqueue({ queue: 'mail' });
    await claim('mail');
    const id = await enqueue();
    return [id, { ...says('may run 1 job at once'), ...hints('tenants limit ~default'), ...naming(first) }];
  },

  pending: async ({ enqueue }) => [await enqueue({ pending: true }), { ...says('held since'), ...hints('/activate') }],
  workflow_ended: async ({ graph, store, clock }) => {
    const { id, nodeId } = await graph([{ id: 'a' }, { id: 'b', depends_on: ['a'] }]);
    // As a server leaves it that dies while it cancels the workflow.
    await store.workflows.move({ tenant: '', id, from: 'running', to: 'cancelled', now: clock.now(), jobs: [] });
    return [nodeId('b'), { ...says('is cancelled, so no further node'), details: { workflow_id: id } }];
  },
  parents: async ({ graph, claim, settle }) => {
    const { nodeId } = await graph([{ id: 'a' }, { id: 'b' }, { id: 'c', depends_on: ['a', 'b'] }]);
    await settle(await claim(), COMPLETED);
    const details = { parents: 2, open: 1, failed: 0 };
    const jobs = [{ id: nodeId('b'), node: 'b', state: 'available', type: 'test.job', queue: 'default' }];
    return [nodeId('c'), { ...says('1 of the 2 nodes before it'), ...hints('waybill explain'), details, jobs }];
  },
  condition: async ({ graph }) => {
    const when = { parent: 'a', path: 'ok', equals: true };
    const { nodeId } = await graph([{ id: 'a' }, { id: 'b', depends_on: ['a'], when }]);
    return [nodeId('b'), { ...says('a.ok = true'), details: { condition: 'a.ok = true' } }];
  },
  map: async ({ graph, claim, settle, waybill }) => {
    const map = { over: { parent: 'list', path: 'pages' } };
    const { id, nodeId } = await graph([{ id: 'list' }, { id: 'each', depends_on: ['list'], map }]);
    const before = await waybill.jobs.explain(nodeId('each'));
    expect(before.reasons).toMatchObject([{ code: 'parents' }, { code: 'map', ...says('list.pages') }]);
    await settle(await claim(), COMPLETED);
    await settle(await claim(), COMPLETED);
    const { items } = await waybill.workflows.nodes(id);
    const open = items.find(({ node, state }) => node!.startsWith('each[') && state !== 'completed')!;
    return [nodeId('each'), { ...says('1 of the 2 jobs of this map'), ...naming(open.id) }];
  },
  signal: async ({ clock, waybill, graph, claim, settle }) => {
    const { id, nodeId } = await graph([
      { id: 'a' },
      { id: 'paid', depends_on: ['a'], signal: { timeout_ms: 60_000 } },
    ]);
    await settle(await claim(), COMPLETED);
    const end = iso(clock.now() + 60_000);
    await until(async () => (await waybill.jobs.get(nodeId('paid'))).startedAt !== null);
    const details = { signal: 'paid', until: end };
    return [nodeId('paid'), { ...says("the signal 'paid'"), hint: `waybill workflows signal ${id} paid`, details }];
  },
  review: async ({ waybill, graph, claim, settle }) => {
    const { id, nodeId } = await graph([{ id: 'draft', review: true }]);
    await settle(await claim(), COMPLETED);
    await until(async () => (await waybill.jobs.get(nodeId('draft'))).startedAt !== null);
    const details = { node: 'draft', iteration: 1 };
    return [
      nodeId('draft'),
      { ...says('waits for its review'), hint: `waybill workflows approve ${id} draft`, details },
    ];
  },
  undecided: async ({ graph, claim, store, clock }) => {
    const { nodeId } = await graph([{ id: 'a' }, { id: 'b', depends_on: ['a'] }]);
    const { job: parent } = await claim();
    // As a server leaves it that dies right after it has settled the parent.
    await store.apply([settleChange(parent, COMPLETED, clock.now())]);
    return [nodeId('b'), says('has not decided about it yet')];
  },

  no_worker: async ({ clock, enqueue, worker }) => {
    await worker();
    const last = iso(clock.now());
    await clock.advance(60_000);
    const details = { workers: 1, last_seen_at: last };
    return [
      await enqueue({ queue: 'mail' }),
      { ...says(last), ...hints('waybill work MODULE --queues mail'), details },
    ];
  },
  workers_stopped: async ({ waybill, enqueue, worker }) => {
    await worker();
    await waybill.workers.direct('worker-1', 'quiet');
    return [await enqueue(), { ...says('take no further jobs'), ...hints('/directive'), details: { live: 1 } }];
  },
  no_worker_for_queue: async ({ enqueue, worker }) => {
    await worker();
    const details = { live: 1, queue: 'mail' };
    return [
      await enqueue({ queue: 'mail' }),
      { ...says("of the queue 'mail' lately"), ...hints('waybill work'), details },
    ];
  },
  turn: async ({ enqueue, claim, worker }) => {
    await worker();
    await enqueue();
    await claim();
    const id = await enqueue();
    await enqueue({ priority: 5 });
    return [id, { ...says('1 of its queue come before it'), details: { ahead: 1, exact: true } }];
  },
};

/** What can be shown only where rows can be damaged from outside. */
export const NEEDS_DAMAGE: ReadonlySet<ReasonCode> = new Set(['unreadable', 'unchecked']);
/** What upkeep does; in the other cases there is none, so that what is due stays as it is. */
export const NEEDS_UPKEEP: ReadonlySet<ReasonCode> = new Set(['expired', 'upkeep_failing']);
