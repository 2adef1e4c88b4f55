import fc from 'fast-check';
import { expect, test } from 'vitest';
import { engine } from './engine.ts';
import type { Outcome } from './job/outcome.ts';
import { silentLogger } from './logger.ts';
import { memoryStore } from './store/memory/memory-store.ts';
import { type Fault, faultyStore, type StoreMethod } from './testing/faulty-store.ts';
import { TestClock } from './testing/test-clock.ts';
import type { Lease, Waybill } from './waybill.ts';

const LIMIT = 2;

/** A graph without circles: a node may only wait for nodes before it. */
interface Plan {
  parents: number[][];
  /** Nodes that fail for good. */
  failing: boolean[];
  faults: Fault[];
  /** Which of two servers takes the next call, and whether a server dies after it. */
  turns: { server: number; repeat: boolean; dies: boolean }[];
  policy: 'stop' | 'continue';
}

const METHODS: StoreMethod[] = [
  'claim',
  'apply',
  'due',
  'get',
  'workflows.meet',
  'workflows.move',
  'workflows.get',
  'workflows.hasUnfinished',
];

const anyPlan: fc.Arbitrary<Plan> = fc.integer({ min: 1, max: 8 }).chain((size) =>
  fc.record({
    parents: fc.tuple(
      ...Array.from({ length: size }, (_, n) => fc.uniqueArray(fc.nat(Math.max(0, n - 1)), { maxLength: n })),
    ),
    failing: fc
      .array(fc.boolean(), { minLength: size, maxLength: size })
      .map((all) => all.map((one, n) => one && n % 3 === 2)),
    faults: fc.array(
      fc.record({
        method: fc.constantFrom(...METHODS),
        call: fc.integer({ min: 1, max: 30 }),
        when: fc.constantFrom('before', 'after'),
      }),
      { maxLength: 12 },
    ),
    turns: fc.array(fc.record({ server: fc.nat(1), repeat: fc.boolean(), dies: fc.boolean() }), {
      minLength: 40,
      maxLength: 40,
    }),
    policy: fc.constantFrom('stop', 'continue'),
  }),
);

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Two servers on one store whose connection breaks now and then; a server that dies is replaced by a new one. */
class Cluster {
  readonly clock = new TestClock();
  readonly store = memoryStore({ clock: this.clock });
  readonly #faulty;
  readonly #servers: Waybill[];

  constructor(faults: Fault[]) {
    // A dead server closes its own end only; the store lives on.
    this.#faulty = { ...faultyStore(this.store, faults), close: async () => {} };
    this.#servers = [
      engine({ store: this.#faulty, logger: silentLogger }),
      engine({ store: this.#faulty, logger: silentLogger }),
    ];
  }

  at(server: number): Waybill {
    return this.#servers[server]!;
  }

  async replace(server: number): Promise<void> {
    await this.#servers[server]!.close();
    this.#servers[server] = engine({ store: this.#faulty, logger: silentLogger });
  }

  async pass(ms: number): Promise<void> {
    for (let n = 0; n < 10; n += 1) await turn();
    await this.clock.advance(ms);
    for (let n = 0; n < 10; n += 1) await turn();
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
  }
}

/** A caller that gets an error makes the same call again. */
async function persist<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (tries === 20) throw error;
    }
  }
}

// fault: random breaks of store calls, repeated calls, and servers that are replaced
test('guarantees 7, 8: every graph ends, each node runs once, after its parents, and no limit is exceeded', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(anyPlan, async (plan) => {
      const cluster = new Cluster(plan.faults);
      try {
        const names = plan.parents.map((_, n) => `n${n}`);
        const nodes = plan.parents.map((parents, n) => ({
          ...{ id: names[n]!, depends_on: parents.map((parent) => names[parent]!), type: 'a.b', args: [n] },
          options: { rate_limit: { key: 'k', concurrency: LIMIT }, retry: { max_attempts: 1 } },
        }));
        const { id } = await cluster.at(0).workflows.create({ nodes, failure_policy: plan.policy });
        const done = new Set<string>();
        const started = new Set<string>();
        const held = new Map<string, Lease>();

        for (let round = 0; round < 200; round += 1) {
          const { server, repeat, dies } = plan.turns[round % plan.turns.length]!;
          const claimId = `claim-${String(round).padStart(4, '0')}`;
          const call = { queues: ['default'], count: 3, claimId, leaseMs: 86_400_000 };
          const leases = await persist(() => cluster.at(server).jobs.claim(call));
          if (repeat)
            expect((await persist(() => cluster.at(1 - server).jobs.claim(call))).map(({ token }) => token)).toEqual(
              leases.map(({ token }) => token),
            );
          for (const lease of leases) {
            const node = lease.job.node!;
            expect(started.has(node), `${node} starts once`).toBe(false);
            started.add(node);
            held.set(node, lease);
            for (const parent of plan.parents[names.indexOf(node)]!)
              expect(done.has(names[parent]!), `${names[parent]} before ${node}`).toBe(true);
          }
          expect(held.size).toBeLessThanOrEqual(LIMIT);
          if (dies) await cluster.replace(server);
          const [next] = held;
          if (next) {
            const [node, { job, token }] = next;
            const fails = plan.failing[names.indexOf(node)]!;
            const outcome: Outcome = fails
              ? { kind: 'failed', error: { code: 'x', message: '' } }
              : { kind: 'completed', result: node };
            if (!fails) done.add(node);
            held.delete(node);
            for (let again = 0; again < (repeat ? 2 : 1); again += 1) {
              await persist(() => cluster.at(server).jobs.settle({ id: job.id, leaseToken: token, outcome }));
            }
          }
          await cluster.pass(1_000);
          const { state } = (await cluster.store.workflows.get('', id))!;
          if (state !== 'running') break;
        }

        const failed = plan.failing.some((fails, n) => fails && started.has(names[n]!));
        expect(await cluster.store.workflows.get('', id)).toMatchObject({ state: failed ? 'failed' : 'completed' });
        if (!failed) expect(started.size).toBe(names.length);
        expect(await cluster.store.limits.get('', 'k')).toMatchObject({ holders: 0, parked: 0 });
        expect(await cluster.store.workflows.hasUnfinished('', id)).toBe(false);
      } finally {
        await cluster.close();
      }
    }),
    { numRuns: 60 },
  );
});
