import { describe, expect, test } from 'vitest';
import { engine } from '../engine.ts';
import type { Job } from '../job/job.ts';
import type { Outcome } from '../job/outcome.ts';
import { silentLogger } from '../logger.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import type { Store } from '../store/store.ts';
import { memoryTransport } from '../testing/memory-transport.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import type { Transport } from '../transport/transport.ts';
import type { Lease, Waybill } from '../waybill.ts';

const HOUR_MS = 3_600_000;
const completed: Outcome = { kind: 'completed', result: null };
const failed: Outcome = { kind: 'failed', error: { code: 'boom', message: 'no' } };
const plain = (type: string, options = {}) => ({ type, args: [], options });

/** How the jobs of a store reach a worker. */
const WAYS = {
  poll: { isHinted: false, claimsByRank: true },
  'hints with claims by rank': { isHinted: true, claimsByRank: true },
  'hints alone': { isHinted: true, claimsByRank: false },
} as const;

type Way = (typeof WAYS)[keyof typeof WAYS];

/** One store and one queue of messages, for any number of processes. While the line is broken, messages get lost. */
function world({ isHinted, claimsByRank }: Way) {
  const clock = new TestClock();
  const inner = memoryStore({ clock });
  const store: Store = { ...inner, capabilities: { ...inner.capabilities, claimsByRank }, close: async () => {} };
  if (!claimsByRank) store.claim = async (requests) => requests.map(() => []);
  const messages = memoryTransport({ clock });
  const line = { isBroken: false };
  const transport: Transport = {
    ...messages,
    send: async (hints) => (line.isBroken ? undefined : messages.send(hints)),
    close: async () => {},
  };
  const options = {
    ...{ logger: silentLogger, sweepEveryMs: 60_000, retention: { everyMs: 100 * HOUR_MS } },
    ...(isHinted && { transport }),
  };
  const start = (): Waybill => testEngine({ on: store, clock, ...options }).waybill;
  /** Never closed: a process that has died does not say goodbye. */
  const startMortal = (on: Store): Waybill => engine({ store: on, ...options });
  return { clock, store, line, start, startMortal };
}

type World = ReturnType<typeof world>;

async function claim(waybill: Waybill, type: string): Promise<Lease> {
  const [lease] = await waybill.jobs.claim({ queues: [type.replace('test.', '')], leaseMs: 100 * HOUR_MS });
  if (!lease) throw new Error(`There was no ${type} to claim.`);
  return lease;
}

const settle = (waybill: Waybill, { job, token }: Lease, outcome: Outcome): Promise<Job> =>
  waybill.jobs.settle({ id: job.id, leaseToken: token, outcome });

const inQueue = (queue: string, more = {}) => ({ ...plain(`test.${queue}`, { queue, ...more }) });

/**
 * Every kind of write after which a job of the queue `target` can be claimed. `prepare` answers the write itself, which is
 * the only thing that happens while the fault is there.
 */
const WRITES: Record<string, (waybill: Waybill, world: World) => Promise<() => Promise<unknown>>> = {
  enqueue: async (waybill) => () => waybill.jobs.enqueue(inQueue('target')),
  'enqueue of many': async (waybill) => () => waybill.jobs.enqueueMany([inQueue('target'), inQueue('target')]),
  'an activation': async (waybill) => {
    const { job } = await waybill.jobs.enqueue({ ...inQueue('target'), options: { queue: 'target', pending: true } });
    return () => waybill.jobs.activate(job.id);
  },
  'a schedule that comes': async (waybill, { clock }) => {
    await waybill.jobs.enqueue(inQueue('target', { scheduled_at: '+PT10S' }));
    return () => clock.advance(11_000);
  },
  'a cron that fires': async (waybill, { clock }) => {
    await waybill.crons.put({ name: 'tick', expression: '* * * * *', job_template: inQueue('target') });
    return () => clock.advance(61_000);
  },
  'A17: a tick that cancels the job before, which held the slot': async (waybill, { clock }) => {
    const rate_limit = { key: 'k', concurrency: 1 };
    const job_template = inQueue('first', { rate_limit });
    const cron = { name: 'tick', expression: '* * * * *', job_template, overlap_policy: 'cancel_previous' };
    await waybill.crons.put(cron as Parameters<typeof waybill.crons.put>[0]);
    await clock.advance(61_000);
    await waybill.jobs.enqueue(inQueue('target', { rate_limit: { key: 'k' } }));
    return () => clock.advance(60_000);
  },
  'a retry': async (waybill, { clock }) => {
    await waybill.jobs.enqueue(inQueue('target', { retry: { initial_interval: 'PT1S', jitter: false } }));
    const lease = await claim(waybill, 'test.target');
    return async () => {
      await settle(waybill, lease, failed);
      await clock.advance(2_000);
    };
  },
  'a hand-back': async (waybill) => {
    await waybill.jobs.enqueue(inQueue('target'));
    const lease = await claim(waybill, 'test.target');
    return () => settle(waybill, lease, { kind: 'requeued' });
  },
  'a lease that runs out': async (waybill, { clock }) => {
    await waybill.jobs.enqueue(inQueue('target'));
    await waybill.jobs.claim({ queues: ['target'], leaseMs: 5_000 });
    return () => clock.advance(6_000);
  },
  'a replay': async (waybill) => {
    const { job } = await waybill.jobs.enqueue(inQueue('target'));
    const error = { code: 'boom', message: 'no' };
    await settle(waybill, await claim(waybill, 'test.target'), { kind: 'discarded', error, deadLetter: true });
    return () => waybill.deadLetters.replay(job.id);
  },
  'a workflow': async (waybill) => () => waybill.workflows.create({ nodes: [{ id: 'a', ...inQueue('target') }] }),
  'a node that is dispatched': async (waybill) => {
    const nodes = [
      { id: 'a', ...inQueue('first') },
      { id: 'b', ...inQueue('target'), depends_on: ['a'] },
    ];
    await waybill.workflows.create({ nodes });
    const lease = await claim(waybill, 'test.first');
    return () => settle(waybill, lease, completed);
  },
  'a callback of a workflow': async (waybill) => {
    const callbacks = { on_complete: inQueue('target') };
    await waybill.workflows.create({ type: 'batch', jobs: [inQueue('first')], callbacks });
    const lease = await claim(waybill, 'test.first');
    return () => settle(waybill, lease, completed);
  },
  'a node that joins': async (waybill) => {
    const nodes = [
      { id: 'a', ...inQueue('first') },
      { id: 'open', ...inQueue('open') },
    ];
    const { id } = await waybill.workflows.create({ nodes });
    await settle(waybill, await claim(waybill, 'test.first'), completed);
    return () => waybill.workflows.addNodes(id, [{ id: 'b', ...inQueue('target'), depends_on: ['a'] }]);
  },
  'a slot that an end gives back': async (waybill) => {
    await waybill.jobs.enqueue(inQueue('first', { rate_limit: { key: 'k', concurrency: 1 } }));
    await waybill.jobs.enqueue(inQueue('target', { rate_limit: { key: 'k' } }));
    const lease = await claim(waybill, 'test.first');
    return () => settle(waybill, lease, completed);
  },
  'a limit that is raised': async (waybill) => {
    await waybill.jobs.enqueue(inQueue('first', { rate_limit: { key: 'k', concurrency: 1 } }));
    await waybill.jobs.enqueue(inQueue('target', { rate_limit: { key: 'k' } }));
    return () => waybill.limits.set('k', { concurrency: 2, rate: null });
  },
  'a rate that lets go': async (waybill, { clock }) => {
    const rate_limit = { key: 'k', rate: { limit: 1, period: 'PT10S' } };
    await waybill.jobs.enqueue(inQueue('first', { rate_limit }));
    await waybill.jobs.enqueue(inQueue('target', { rate_limit }));
    await claim(waybill, 'test.first');
    return () => clock.advance(12_000);
  },
  'a replacement that gives its slot to another': async (waybill) => {
    const unique = { keys: ['type'], on_conflict: 'replace' };
    await waybill.jobs.enqueue(inQueue('first', { rate_limit: { key: 'k', concurrency: 1 }, unique }));
    await waybill.jobs.enqueue(inQueue('target', { rate_limit: { key: 'k' } }));
    return () => waybill.jobs.enqueue(inQueue('first', { unique }));
  },
  'a queue that goes on': async (waybill) => {
    await waybill.queues.pause('target');
    await waybill.jobs.enqueue(inQueue('target'));
    await waybill.jobs.claim({ queues: ['target'] });
    return () => waybill.queues.resume('target');
  },
};

/** Whether the job reaches a worker of another process by itself. Reminders are twelve hours apart at most. */
async function expectToArrive({ clock }: World, waybill: Waybill): Promise<void> {
  for (let hour = 0; hour < 26; hour += 1) {
    const [lease] = await waybill.jobs.claim({ queues: ['target'] });
    if (lease) return;
    await clock.advance(HOUR_MS);
  }
  expect.fail('The job did not come within 26 hours.');
}

describe.each(Object.entries(WAYS))('guarantees 1, 5: over %s', (_, way) => {
  // fault: every hint is lost
  test.each(Object.keys(WRITES))('%s: its hint is lost', async (name) => {
    const here = world(way);
    const write = await WRITES[name]!(here.start(), here);
    here.line.isBroken = true;
    await write();
    here.line.isBroken = false;
    await expectToArrive(here, here.start());
  });

  // fault: the process dies right after the write, and its hints are lost
  test.each(Object.keys(WRITES))('%s: the process dies right after it', async (name) => {
    const here = world(way);
    const mortal = mortalStore(here.store);
    const write = await WRITES[name]!(here.startMortal(mortal.store), here);
    here.line.isBroken = true;
    mortal.dieAfterNextWrite();
    void write().catch(() => {});
    for (let turn = 0; turn < 120 && !mortal.isDead(); turn += 1) await here.clock.advance(1_000);
    expect(mortal.isDead()).toBe(true);
    here.line.isBroken = false;
    await expectToArrive(here, here.start());
  });
});

/** A store whose process dies after a write: the write is there, and nothing of this process happens any more. */
function mortalStore(store: Store) {
  let state: 'alive' | 'doomed' | 'dead' = 'alive';
  const never = new Promise<never>(() => {});
  const read = <In extends unknown[], Out>(run: (...args: In) => Promise<Out>) => {
    return (...args: In): Promise<Out> => (state === 'dead' ? never : run(...args));
  };
  const write = <In extends unknown[], Out>(run: (...args: In) => Promise<Out>, wrote: (answer: Out) => boolean) => {
    return async (...args: In): Promise<Out> => {
      if (state === 'dead') return never;
      const answer = await run(...args);
      if (state === 'doomed' && wrote(answer)) state = 'dead';
      return state === 'dead' ? never : answer;
    };
  };
  const { crons, workflows, limits, queues } = store;
  const mortal: Store = {
    ...store,
    get: read((keys) => store.get(keys)),
    claim: read((requests) => store.claim(requests)),
    claimById: read((request) => store.claimById(request)),
    ping: read(() => store.ping()),
    insert: write(
      (groups) => store.insert(groups),
      (answers) => answers.some(({ status }) => status === 'inserted'),
    ),
    apply: write(
      (changes) => store.apply(changes),
      (answers) => answers.some(({ status }) => status === 'applied'),
    ),
    due: write(
      (query) => store.due(query),
      ({ admitted }) => admitted.length > 0,
    ),
    crons: {
      ...crons,
      fire: write(
        (request) => crons.fire(request),
        ({ status }) => status === 'fired',
      ),
    },
    workflows: {
      ...workflows,
      move: write(
        (request) => workflows.move(request),
        ({ status }) => status === 'moved',
      ),
    },
    limits: {
      ...limits,
      set: write(
        (...args) => limits.set(...args),
        () => true,
      ),
    },
    queues: {
      ...queues,
      setPaused: write(
        (...args) => queues.setPaused(...args),
        () => true,
      ),
    },
    close: async () => {},
  };
  return {
    store: mortal,
    dieAfterNextWrite: () => {
      state = 'doomed';
    },
    isDead: () => state === 'dead',
  };
}
