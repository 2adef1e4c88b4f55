import fc from 'fast-check';
import { expect, test } from 'vitest';
import { engine } from '../../engine.ts';
import { WaybillError } from '../../errors.ts';
import type { Job } from '../../job/job.ts';
import type { Json } from '../../json.ts';
import { silentLogger } from '../../logger.ts';
import type { Store } from '../../store/store.ts';
import type { Lease, Waybill, WorkflowNode } from '../../waybill.ts';
import { type Fault, faultyStore } from '../faulty-store.ts';
import type { StoreFactory } from '../store/bench.ts';
import type { TestClock } from '../test-clock.ts';
import { type Ending, expectedEnds, itemResult } from './expected-ends.ts';
import { FAILING_ITEM, type RandomNode, randomGraph, requestOf, resultOf } from './random-graph.ts';

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

/** Random graphs with conditions, delays, maps, signals, reviews and failures, run by several servers, end as the model says. */
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
    // A node before it may have ended it already.
    for (const { id: name, signal, result } of graph)
      if (signal === 'early') await persist(() => servers[0]!.workflows.signal(id, name, result)).catch(isConflict);
    const starts = await workOff(servers, clock, id, graph);
    const expected = expectedEnds(graph);
    const rows = await allNodes(store, id);
    const found = new Map(rows.map((row) => [row.node!, { ending: endingOf(row), result: outputOf(row) }]));
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
    await decideAll(servers, id, byName);
    idle += 1;
    await clock.advance(500);
  }
  throw new Error('The workflow did not end, and nothing was left to claim.');
}

/** Every server makes the same decisions at once; those that are late are refused. */
async function decideAll(servers: readonly Waybill[], id: string, byName: ReadonlyMap<string, RandomNode>) {
  const { workflows } = servers[0]!;
  const waiters: WorkflowNode[] = [];
  let cursor: string | undefined;
  do {
    const page = await persist(() => workflows.nodes(id, { limit: 1_000, ...(cursor && { cursor }) }));
    waiters.push(...page.items.filter(({ waiting }) => waiting));
    cursor = page.cursor;
  } while (cursor !== undefined);
  for (const { node: name, waiting } of waiters) {
    const { revisions = 0, result } = byName.get(name!)!;
    const { iteration } = waiting!;
    const decide = ({ workflows }: Waybill) =>
      iteration === undefined
        ? workflows.signal(id, name!, result)
        : iteration > revisions
          ? workflows.approve(id, name!, { iteration })
          : workflows.requestRevision(id, name!, { iteration, feedback: 'Once more.' });
    await Promise.allSettled(servers.map((server) => persist(() => decide(server))));
  }
}

/** The node that a job is of, and which iteration of it; null: a job of a map. */
function workOf({ node, spec }: Job, byName: ReadonlyMap<string, RandomNode>): [RandomNode, number] | null {
  const plain = byName.get(node!);
  if (plain) return [plain, 1];
  const base = byName.get(node!.slice(0, node!.lastIndexOf('[')))!;
  return base.revisions === undefined ? null : [base, spec.rules?.revision?.iteration ?? 1];
}

function settlementOf({ job, token }: Lease, byName: ReadonlyMap<string, RandomNode>) {
  const failed = { kind: 'failed', error: { code: 'boom', message: 'no' } } as const;
  const done = (result: Json) => ({ kind: 'completed', result }) as const;
  const work = workOf(job, byName);
  const [item] = job.spec.args as [number];
  const outcome = work
    ? work[0].fails
      ? failed
      : done(resultOf(...work))
    : item >= FAILING_ITEM
      ? failed
      : done(itemResult(item));
  return { id: job.id, leaseToken: token, outcome };
}

/** A node gets what its parents came to, in their order; a job of a map gets its item instead. */
function checkResults({ job, parentResults, revision }: Lease, byName: ReadonlyMap<string, RandomNode>): void {
  const work = workOf(job, byName);
  const node = work?.[0];
  const previous = work && work[1] > 1 ? resultOf(work[0], work[1] - 1) : undefined;
  expect(revision?.previous, `${job.node} has the output of the iteration before`).toEqual(previous);
  expect(parentResults?.length ?? 0, `${job.node} has the results of its parents`).toBe(node?.parents.length ?? 0);
  node?.parents.forEach((parent, index) => {
    const result = parentResults![index];
    const before = byName.get(parent)!;
    if (before.map) expect(result === null || Array.isArray(result)).toBe(true);
    else expect([null, resultOf(before, 1 + (before.revisions ?? 0))]).toContainEqual(result);
  });
}

function checkTimes(graph: readonly RandomNode[], rows: ReadonlyMap<string, Job>, starts: ReadonlyMap<string, number>) {
  for (const { id, parents, delayMs = 0, map, revisions } of graph) {
    const first = map ? `${id}[0]` : revisions === undefined ? id : `${id}[1]`;
    const began = starts.get(first);
    if (began === undefined) continue;
    const ended = parents.map((parent) => rows.get(parent)!.finishedAt!);
    expect(began, `${first} begins after its parents and its delay`).toBeGreaterThanOrEqual(
      Math.max(0, ...ended) + delayMs,
    );
  }
}

function isConflict(error: unknown): void {
  if (!(error instanceof WaybillError && error.code === 'conflict')) throw error;
}

/** What a gate was told it keeps, also when it is cancelled. */
const outputOf = ({ state, result }: Job): Json | null => (state === 'completed' ? result : null);

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
