import fc from 'fast-check';
import { expect, test } from 'vitest';
import { engine } from '../../engine.ts';
import type { Job } from '../../job/job.ts';
import type { Json } from '../../json.ts';
import { silentLogger } from '../../logger.ts';
import type { Store } from '../../store/store.ts';
import type { Lease, Waybill } from '../../waybill.ts';
import { type Fault, faultyStore } from '../faulty-store.ts';
import type { StoreFactory } from '../store/bench.ts';
import type { TestClock } from '../test-clock.ts';
import { type Ending, expectedEnds, itemResult } from './expected-ends.ts';
import { FAILING_ITEM, type RandomNode, randomGraph, requestOf } from './random-graph.ts';

export interface FlowOptions {
  runs: number;
  /** Nodes of a graph at most; what maps make comes on top. */
  size: number;
  /** @defaultValue 1 */
  least?: number;
  /** Engines on the one store. @defaultValue 2 */
  servers?: number;
  /** Store calls that break, at most. @defaultValue 0 */
  faults?: number;
  timeLimitMs?: number;
}

const METHODS = ['apply', 'insert', 'get', 'workflows.meet', 'workflows.parents', 'workflows.get'] as const;

interface Plan {
  seed: number;
  size: number;
  faults: Fault[];
}

type Run = Plan & { servers: number };

/** Random graphs with conditions, delays, maps and failures, run by several servers, end as the model says. */
export function testRandomFlows(name: string, factory: StoreFactory, options: FlowOptions): void {
  const { runs, size, least = 1, servers = 2, faults = 0, timeLimitMs = 120_000 } = options;
  const fault = fc.record({
    method: fc.constantFrom(...METHODS),
    call: fc.integer({ min: 1, max: 60 }),
    when: fc.constantFrom('before' as const, 'after' as const),
  });
  const anyPlan: fc.Arbitrary<Plan> = fc.record({
    seed: fc.nat(),
    size: fc.integer({ min: least, max: size }),
    faults: fc.array(fault, { maxLength: faults }),
  });
  // fault: random breaks of store calls, where there are any; all servers look at every node
  test(`guarantee 8: ${name}: random graphs with rules end as the model says`, {
    timeout: timeLimitMs + 60_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(anyPlan, async (plan) => {
        const { store, clock, close } = await factory();
        try {
          await runOne(store, clock, { ...plan, servers });
        } finally {
          await close();
        }
      }),
      { numRuns: runs, interruptAfterTimeLimit: timeLimitMs },
    );
  });
}

async function runOne(store: Store, clock: TestClock, { seed, size, faults, servers: count }: Run): Promise<void> {
  const graph = randomGraph(seed, size);
  const shared = { ...faultyStore(store, faults), close: async () => {} };
  const servers = Array.from({ length: count }, () => engine({ store: shared, logger: silentLogger }));
  try {
    const nodes = requestOf(graph, { retry: { max_attempts: 1 } });
    const { id } = await persist(() => servers[0]!.workflows.create({ nodes }));
    const starts = await workOff(servers, clock, id, graph);
    const expected = expectedEnds(graph);
    const rows = await allNodes(store, id);
    const found = new Map(rows.map((row) => [row.node!, { ending: endingOf(row), result: row.result }]));
    expect(found, 'every node ends as it must').toEqual(expected);
    const endings = [...expected.values()].map(({ ending }) => ending);
    const failed = endings.some((ending) => ending === 'discarded' || ending === 'cancelled');
    const countOf = (one: Ending) => endings.filter((ending) => ending === one).length;
    expect(await persist(() => servers[0]!.workflows.get(id))).toMatchObject({
      ...{ state: failed ? 'failed' : 'completed', total: expected.size, reason: null, partialFailure: false },
      ...{ completed: countOf('completed'), skipped: countOf('skipped') },
    });
    checkTimes(graph, new Map(rows.map((row) => [row.node!, row])), starts);
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}

/** Claims and settles until the workflow has ended; answers when each node began. */
async function workOff(
  servers: readonly Waybill[],
  clock: TestClock,
  id: string,
  graph: readonly RandomNode[],
): Promise<Map<string, number>> {
  const byName = new Map(graph.map((node) => [node.id, node]));
  const starts = new Map<string, number>();
  for (let idle = 0, round = 0; idle < 100; round += 1) {
    const server = servers[round % servers.length]!;
    const claimId = `claim-${String(round).padStart(5, '0')}`;
    const call = { queues: ['default'], count: 100, claimId, leaseMs: 86_400_000 };
    const leases = await persist(() => server.jobs.claim(call));
    for (const lease of leases) {
      const { job } = lease;
      expect(starts.has(job.node!), `${job.node} starts once`).toBe(false);
      starts.set(job.node!, clock.now());
      checkResults(lease, byName);
    }
    await Promise.all(leases.map((lease) => persist(() => server.jobs.settle(settlementOf(lease, byName)))));
    if (leases.length > 0) {
      idle = 0;
      continue;
    }
    if ((await persist(() => server.workflows.get(id))).state !== 'running') return starts;
    idle += 1;
    await clock.advance(500);
  }
  throw new Error('The workflow did not end, and nothing was left to claim.');
}

function settlementOf({ job, token }: Lease, byName: ReadonlyMap<string, RandomNode>) {
  const failed = { kind: 'failed', error: { code: 'boom', message: 'no' } } as const;
  const done = (result: Json) => ({ kind: 'completed', result }) as const;
  const node = byName.get(job.node!);
  const [item] = job.spec.args as [number];
  const outcome = node
    ? node.fails
      ? failed
      : done(node.result)
    : item >= FAILING_ITEM
      ? failed
      : done(itemResult(item));
  return { id: job.id, leaseToken: token, outcome };
}

/** A node gets what its parents came to, in their order; a job of a map gets its item instead. */
function checkResults({ job, parentResults }: Lease, byName: ReadonlyMap<string, RandomNode>): void {
  const node = byName.get(job.node!);
  expect(parentResults?.length ?? 0, `${job.node} has the results of its parents`).toBe(node?.parents.length ?? 0);
  node?.parents.forEach((parent, index) => {
    const result = parentResults![index];
    const { map, result: own } = byName.get(parent)!;
    if (map) expect(result === null || Array.isArray(result)).toBe(true);
    else expect([null, own]).toContainEqual(result);
  });
}

function checkTimes(graph: readonly RandomNode[], rows: ReadonlyMap<string, Job>, starts: ReadonlyMap<string, number>) {
  for (const { id, parents, delayMs = 0, map } of graph) {
    const first = map ? `${id}[0]` : id;
    const began = starts.get(first);
    if (began === undefined) continue;
    const ended = parents.map((parent) => rows.get(parent)!.finishedAt!);
    expect(began, `${first} begins after its parents and its delay`).toBeGreaterThanOrEqual(
      Math.max(0, ...ended) + delayMs,
    );
  }
}

const endingOf = ({ state, outcome }: Job): string => (outcome === 'skipped' ? outcome : state);

async function allNodes(store: Store, workflowId: string): Promise<Job[]> {
  const rows: Job[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ filter: { tenant: '', workflowId }, limit: 500, ...(cursor && { cursor }) });
    rows.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return rows;
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
