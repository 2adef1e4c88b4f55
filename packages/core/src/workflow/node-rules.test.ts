import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import type { Fault, StoreMethod } from '../testing/faulty-store.ts';
import { testEngine } from '../testing/test-engine.ts';
import { failed, type Made, settleDown, step } from '../testing/workflow-runs.ts';
import type { Lease } from '../waybill.ts';

const returned = (result: Json) => ({ kind: 'completed', result }) as const;

/** Nodes by name: what they depend on, and what else they say. */
type Graph = Record<string, { after?: string[]; [rule: string]: unknown }>;

const nodesOf = (graph: Graph) =>
  Object.entries(graph).map(([id, { after = [], ...rules }]) => ({ id, depends_on: after, ...step(id), ...rules }));

const create = (made: Made, graph: Graph, more: object = {}) =>
  made.waybill.workflows.create({ nodes: nodesOf(graph), ...more });

/** Claims what there is, by the names of the nodes. */
async function claimed(made: Made): Promise<Map<string, Lease>> {
  await settleDown(made);
  const leases = await made.waybill.jobs.claim({ queues: ['default'], count: 1_000, leaseMs: 3_600_000 });
  return new Map(leases.map((lease) => [lease.job.node!, lease]));
}

async function end(made: Made, lease: Lease | undefined, outcome: ReturnType<typeof returned> | typeof failed) {
  await made.waybill.jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome });
}

async function statesOf(made: Made, id: string): Promise<Record<string, string>> {
  await settleDown(made);
  const { items } = await made.waybill.workflows.nodes(id, { limit: 500 });
  return Object.fromEntries(items.map(({ node, state, outcome }) => [node, outcome === 'skipped' ? outcome : state]));
}

const info = async (made: Made, id: string) => made.waybill.workflows.get(id);

describe('conditions', () => {
  const OK = { parent: 'check', path: 'ok', equals: true };

  test('a node whose condition is false is skipped, and told apart everywhere', async () => {
    const made = testEngine();
    const { id } = await create(made, {
      check: {},
      yes: { after: ['check'], when: OK },
      no: { after: ['check'], when: { not: OK } },
    });
    await end(made, (await claimed(made)).get('check'), returned({ ok: true }));
    const leases = await claimed(made);
    expect([...leases.keys()]).toEqual(['yes']);
    await end(made, leases.get('yes'), returned(1));
    expect(await statesOf(made, id)).toEqual({ check: 'completed', yes: 'completed', no: 'skipped' });
    expect(await info(made, id)).toMatchObject({ state: 'completed', total: 3, completed: 2, skipped: 1, failed: 0 });
    const { events } = await made.waybill.events.read({ limit: 100, filter: { types: ['job.skipped'] } });
    expect(events).toMatchObject([{ data: { reason: 'condition_false' } }]);
  });

  test('behind a skipped node: by default one completed parent is enough; an option says otherwise', async () => {
    const made = testEngine();
    const { id } = await create(made, {
      check: {},
      skipped: { after: ['check'], when: OK },
      both: { after: ['check', 'skipped'] },
      only: { after: ['skipped'] },
      strict: { after: ['check', 'skipped'], if_skipped: 'skip' },
      anyway: { after: ['skipped'], if_skipped: 'run' },
      deep: { after: ['only'] },
    });
    await end(made, (await claimed(made)).get('check'), returned({ ok: false }));
    const leases = await claimed(made);
    expect([...leases.keys()].sort()).toEqual(['anyway', 'both']);
    expect(leases.get('both')!.parentResults).toEqual([{ ok: false }, null]);
    for (const lease of leases.values()) await end(made, lease, returned(null));
    const skipped = { skipped: 'skipped', only: 'skipped', strict: 'skipped', deep: 'skipped' };
    expect(await statesOf(made, id)).toEqual({
      check: 'completed',
      both: 'completed',
      anyway: 'completed',
      ...skipped,
    });
    expect(await info(made, id)).toMatchObject({ state: 'completed', completed: 3, skipped: 4 });
  });

  test('nodes that join later stand behind skipped ones too, and bring conditions with them', async () => {
    const made = testEngine();
    const { id } = await create(made, { check: {}, off: { after: ['check'], when: OK }, last: { after: ['check'] } });
    await end(made, (await claimed(made)).get('check'), returned({ ok: false }));
    const added = nodesOf({ late: { after: ['off'] }, own: { after: ['check'], when: { ...OK, equals: false } } });
    await made.waybill.workflows.addNodes(id, added);
    await made.waybill.workflows.addNodes(id, added);
    const leases = await claimed(made);
    expect([...leases.keys()].sort()).toEqual(['last', 'own']);
    for (const lease of leases.values()) await end(made, lease, returned(null));
    expect(await statesOf(made, id)).toMatchObject({ off: 'skipped', late: 'skipped', own: 'completed' });
  });

  test('a condition that joins a workflow without one is counted', async () => {
    const made = testEngine();
    const { id } = await create(made, { check: {}, other: {} });
    await end(made, (await claimed(made)).get('check'), returned({ ok: false }));
    await made.waybill.workflows.addNodes(id, nodesOf({ late: { after: ['check'], when: OK } }));
    await settleDown(made);
    expect(await info(made, id)).toMatchObject({ state: 'running', completed: 1, skipped: 1 });
  });

  test('a workflow without rules reads no parents before it starts a node', async () => {
    const made = testEngine();
    await create(made, { a: {}, b: { after: ['a'] } });
    const { a } = Object.fromEntries(await claimed(made));
    const before = made.store.calls('workflows.parents');
    await end(made, a, returned(1));
    expect(made.store.calls('workflows.parents')).toBe(before);
    expect((await claimed(made)).size).toBe(1);
  });
});

describe('delays', () => {
  test('a node starts so long after the last of its parents has ended, however late it is looked at', async () => {
    const faults: Fault[] = [1, 2, 3].map((call) => ({ method: 'workflows.meet', call, when: 'before' }) as const);
    const made = testEngine({ faults });
    await create(made, { a: {}, b: { after: ['a'], delay_ms: 60_000 } });
    await end(made, (await claimed(made)).get('a'), returned(1));
    const ended = made.clock.now();
    await made.clock.advance(30_000);
    expect([...(await claimed(made)).keys()]).toEqual([]);
    const { items } = await made.waybill.jobs.list({ filter: { tenant: '', states: ['scheduled'] } });
    expect(items).toMatchObject([{ node: 'b', scheduledAt: ended + 60_000 }]);
    await made.clock.advance(30_000);
    expect([...(await claimed(made)).keys()]).toEqual(['b']);
  });
});

describe('maps', () => {
  const over = { parent: 'list' };
  const MAP: Graph = { list: {}, each: { after: ['list'], map: { over } }, after: { after: ['each'] } };

  async function planted(result: Json, graph: Graph = MAP, more = {}) {
    const made = testEngine(more);
    const { id } = await create(made, graph);
    await end(made, (await claimed(made)).get('list'), returned(result));
    return { made, id };
  }

  test('fans out over the list and in again, in the order of the list', async () => {
    const { made, id } = await planted(['x', 'y', { z: 1 }]);
    const items = await claimed(made);
    expect([...items.keys()].sort()).toEqual(['each[0]', 'each[1]', 'each[2]']);
    expect(items.get('each[2]')!.job).toMatchObject({ type: 'test.each', spec: { args: [{ z: 1 }, 'each'] } });
    for (const name of ['each[2]', 'each[0]', 'each[1]']) await end(made, items.get(name), returned(name));
    const next = await claimed(made);
    expect(next.get('after')!.parentResults).toEqual([['each[0]', 'each[1]', 'each[2]']]);
    await end(made, next.get('after'), returned(null));
    await settleDown(made);
    expect(await info(made, id)).toMatchObject({ state: 'completed', total: 6, completed: 6 });
    const { events } = await made.waybill.events.read({ limit: 100, filter: { types: ['workflow.step_completed'] } });
    expect(events.map(({ data }) => data['step_id']).sort()).toEqual([
      'after',
      'each',
      'each[0]',
      'each[1]',
      'each[2]',
      'list',
    ]);
    const { items: nodes } = await made.waybill.workflows.nodes(id, { limit: 100 });
    expect(nodes.find(({ node }) => node === 'each')!.dependsOn).toEqual(['list']);
  });

  test('an empty list completes the map at once', async () => {
    const { made } = await planted([]);
    expect((await claimed(made)).get('after')!.parentResults).toEqual([[]]);
  });

  test.each<[string, Json, object, string]>([
    ['no list', { a: 1 }, {}, 'map_no_list'],
    ['nothing at that path', { a: 1 }, { over: { parent: 'list', path: 'a.b' } }, 'map_no_list'],
    ['too many items', [1, 2, 3], { limit: 2 }, 'map_too_long'],
    ['more than a workflow has room for', Array.from({ length: 9_998 }, () => 0), {}, 'map_too_long'],
  ])('%s fails the map with a clear error', async (_, result, more, code) => {
    const { made, id } = await planted(result, { ...MAP, each: { after: ['list'], map: { over, ...more } } });
    expect(await statesOf(made, id)).toEqual({ list: 'completed', each: 'discarded', after: 'cancelled' });
    const { items } = await made.waybill.workflows.nodes(id, { limit: 10 });
    expect(items.find(({ node }) => node === 'each')).toMatchObject({ dead: false, errors: [{ code }] });
    expect(await info(made, id)).toMatchObject({ state: 'failed' });
    // Run again, it is looked at again, and no worker gets it.
    await made.waybill.workflows.resume(id);
    expect(await statesOf(made, id)).toEqual({ list: 'completed', each: 'discarded', after: 'cancelled' });
  });

  test('one job that fails fails the map; the others go on, and resume runs the failed one again', async () => {
    const { made, id } = await planted(['x', 'y']);
    const items = await claimed(made);
    await end(made, items.get('each[0]'), failed);
    await settleDown(made);
    expect(await info(made, id)).toMatchObject({ state: 'running', partialFailure: true });
    await end(made, items.get('each[1]'), returned('Y'));
    await settleDown(made);
    expect(await info(made, id)).toMatchObject({ state: 'failed', partialFailure: false });
    await made.waybill.workflows.resume(id);
    const again = await claimed(made);
    expect([...again.keys()]).toEqual(['each[0]']);
    await end(made, again.get('each[0]'), returned('X'));
    expect((await claimed(made)).get('after')!.parentResults).toEqual([['X', 'Y']]);
  });

  test('so many of its jobs run at once as `concurrency` says', async () => {
    const { made } = await planted([1, 2, 3], { ...MAP, each: { after: ['list'], map: { over, concurrency: 2 } } });
    const first = await claimed(made);
    expect(first.size).toBe(2);
    await end(made, [...first.values()][0], returned(0));
    expect((await claimed(made)).size).toBe(1);
  });

  test('a delay holds up the jobs of a map', async () => {
    const { made } = await planted([1], { ...MAP, each: { after: ['list'], map: { over }, delay_ms: 5_000 } });
    expect((await claimed(made)).size).toBe(0);
    await made.clock.advance(5_000);
    expect([...(await claimed(made)).keys()]).toEqual(['each[0]']);
  });

  const CALLS: Partial<Record<StoreMethod, number>> = {
    ...{ insert: 3, apply: 12, get: 8, 'workflows.meet': 6, 'workflows.parents': 5, 'workflows.move': 2 },
  };
  const matrix: Fault[] = Object.entries(CALLS).flatMap(([method, calls]) =>
    Array.from({ length: calls }, (_, index) => index + 1).flatMap((call) =>
      (['before', 'after'] as const).map((when) => ({ method: method as StoreMethod, call, when })),
    ),
  );

  // fault: the connection breaks before or after the effect of a store call
  test.each(matrix)(
    'guarantee 8: a map plants and gathers once when $method, call $call, breaks $when',
    async (fault) => {
      const made = testEngine({ faults: [fault] });
      const persist = async <T>(call: () => Promise<T>): Promise<T> => call().catch(call);
      const { id } = await persist(() => create(made, MAP));
      const started: string[] = [];
      for (let round = 0; round < 30; round += 1) {
        await made.clock.advance(2_000);
        const call = { queues: ['default'], count: 10, claimId: `claim-${1_000 + round}`, leaseMs: 3_600_000 };
        for (const lease of await persist(() => made.waybill.jobs.claim(call))) {
          started.push(lease.job.node!);
          await persist(() => end(made, lease, returned(lease.job.node === 'list' ? ['x', 'y'] : lease.job.node)));
        }
        if ((await persist(() => info(made, id))).state !== 'running') break;
      }
      expect(started.sort()).toEqual(['after', 'each[0]', 'each[1]', 'list']);
      expect(await persist(() => info(made, id))).toMatchObject({ state: 'completed', total: 5, completed: 5 });
    },
  );
});

describe('a timeout of the whole', () => {
  test('cancels what has not ended, and the workflow fails with its reason', async () => {
    const made = testEngine();
    const alert = { on_failure: { type: 'test.alert', args: [], options: { queue: 'alerts' } } };
    const graph = { a: {}, b: {}, c: { after: ['a'] }, d: { after: ['c'] } };
    const { id } = await create(made, graph, { timeout_ms: 60_000, callbacks: alert });
    const leases = await claimed(made);
    await end(made, leases.get('a'), returned(1));
    await made.clock.advance(59_000);
    expect(await info(made, id)).toMatchObject({ state: 'running', timeoutMs: 60_000, reason: null });
    await made.clock.advance(1_000);
    const ended = { a: 'completed', b: 'cancelled', c: 'cancelled', d: 'cancelled' };
    expect(await statesOf(made, id)).toMatchObject(ended);
    expect(await info(made, id)).toMatchObject({ state: 'failed', reason: 'timeout', cancelled: 3, nextAt: null });
    const [callback] = await made.waybill.jobs.claim({ queues: ['alerts'] });
    expect(callback!.job.spec.meta).toMatchObject({ workflow_id: id, workflow_state: 'failed' });
    const { events } = await made.waybill.events.read({ limit: 100, filter: { types: ['workflow.failed'] } });
    expect(events).toMatchObject([{ data: { reason: 'timeout' } }]);
    await expect(end(made, leases.get('b'), returned(2))).rejects.toMatchObject({ code: 'lease_lost' });
  });

  test('resumed, it has all its time again', async () => {
    const made = testEngine();
    const { id } = await create(made, { a: {} }, { timeout_ms: 1_000 });
    await made.clock.advance(1_000);
    await settleDown(made);
    expect(await info(made, id)).toMatchObject({ state: 'failed', reason: 'timeout' });
    const resumed = await made.waybill.workflows.resume(id);
    expect(resumed).toMatchObject({ state: 'running', reason: null, nextAt: made.clock.now() + 1_000 });
    await end(made, (await claimed(made)).get('a'), returned(1));
    await made.clock.advance(1_000);
    expect(await info(made, id)).toMatchObject({ state: 'completed', reason: null });
  });

  // fault: the connection breaks before or after the effect of a store call of the timeout
  test.each(
    (['workflows.move', 'list', 'apply', 'workflows.get', 'workflows.hasUnfinished'] as const).flatMap((method) =>
      [1, 2, 3].flatMap((call) => (['before', 'after'] as const).map((when) => ({ method, call, when }))),
    ),
  )('guarantee 8: it ends once when $method, call $call, breaks $when', async (fault) => {
    const made = testEngine({ faults: [fault] });
    const { id } = await create(made, { a: {}, b: { after: ['a'] } }, { timeout_ms: 1_000 });
    for (let turn = 0; turn < 20; turn += 1) await made.clock.advance(1_000);
    // What the fault has left is used up here.
    for (let turn = 0; turn < 3; turn += 1) await info(made, id).catch(() => {});
    expect(await statesOf(made, id)).toEqual({ a: 'cancelled', b: 'cancelled' });
    expect(await info(made, id)).toMatchObject({ state: 'failed', reason: 'timeout' });
    const { events } = await made.waybill.events.read({ limit: 100, filter: { types: ['workflow.failed'] } });
    expect(events).toHaveLength(1);
  });
});
