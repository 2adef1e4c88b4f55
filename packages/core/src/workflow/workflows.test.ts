import { describe, expect, test } from 'vitest';
import type { Outcome } from '../job/outcome.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import type { Lease } from '../waybill.ts';

const done = (result: string): Outcome => ({ kind: 'completed', result });
const failed: Outcome = { kind: 'discarded', error: { code: 'boom', message: 'no' } };
const step = (name: string) => ({ type: `test.${name}`, args: [name] });

type Made = ReturnType<typeof testEngine>;

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Lets the sweep do what is due: it is woken at once, so turns must pass rather than time. */
const settleDown = async ({ clock }: Made) => {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  await clock.advance(1);
};

async function claimAll(made: Made): Promise<Map<string, Lease>> {
  await settleDown(made);
  const leases = await made.waybill.jobs.claim({ queues: ['default'], count: 1_000, leaseMs: 3_600_000 });
  return new Map(leases.map((lease) => [lease.job.type.replace('test.', ''), lease]));
}

async function settle(made: Made, lease: Lease | undefined, outcome: Outcome): Promise<void> {
  await made.waybill.jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome });
}

// fault: none, the rule itself
test('guarantee 8: a chain runs step by step and hands results on', async () => {
  const made = testEngine();
  const { id } = await made.waybill.workflows.create({ type: 'chain', steps: ['a', 'b', 'c'].map(step) });
  for (const [name, before] of [
    ['a', undefined],
    ['b', ['from a']],
    ['c', ['from b']],
  ] as const) {
    const leases = await claimAll(made);
    expect([...leases.keys()]).toEqual([name]);
    expect(leases.get(name)!.parentResults).toEqual(before);
    await settle(made, leases.get(name), done(`from ${name}`));
  }
  await settleDown(made);
  expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'completed', total: 3, completed: 3 });
});

// fault: none, the rule itself
test('guarantee 8: a node starts once, after all its parents', async () => {
  const made = testEngine();
  const nodes = [
    { id: 'a', ...step('a') },
    { id: 'b', ...step('b') },
    { id: 'c', ...step('c'), depends_on: ['a', 'b'] },
    { id: 'd', ...step('d'), depends_on: ['c', 'a'] },
  ];
  const { id } = await made.waybill.workflows.create({ nodes });
  const first = await claimAll(made);
  expect([...first.keys()].sort()).toEqual(['a', 'b']);
  await settle(made, first.get('a'), done('A'));
  expect([...(await claimAll(made)).keys()]).toEqual([]);
  await settle(made, first.get('b'), done('B'));
  const second = await claimAll(made);
  expect(second.get('c')!.parentResults).toEqual(['A', 'B']);
  await settle(made, second.get('c'), done('C'));
  const third = await claimAll(made);
  expect(third.get('d')!.parentResults).toEqual(['C', 'A']);
  await settle(made, third.get('d'), done('D'));
  await settleDown(made);
  expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'completed', completed: 4 });
});

// fault: the connection breaks at every try to advance a finished node
test('guarantee 8: a node that could not be advanced when it finished is advanced by the sweep', async () => {
  const faults = [1, 2, 3].map((call) => ({ method: 'workflows.meet', call, when: 'before' }) as const);
  const made = testEngine({ faults });
  await made.waybill.workflows.create({ type: 'chain', steps: ['a', 'b'].map(step) });
  await settle(made, (await claimAll(made)).get('a'), done('A'));
  expect(made.store.calls('workflows.meet')).toBe(faults.length);
  await made.clock.advance(60_000);
  const second = await claimAll(made);
  expect([...second.keys()]).toEqual(['b']);
  expect(second.get('b')!.parentResults).toEqual(['A']);
});

describe('failure', () => {
  test('a chain stops: later steps are cancelled and the workflow fails', async () => {
    const made = testEngine();
    const { id } = await made.waybill.workflows.create({ type: 'chain', steps: ['a', 'b', 'c'].map(step) });
    await settle(made, (await claimAll(made)).get('a'), failed);
    expect(await claimAll(made)).toEqual(new Map());
    expect(await made.waybill.workflows.get(id)).toMatchObject({
      state: 'failed',
      completed: 0,
      failed: 1,
      cancelled: 2,
    });
  });

  test('independent branches go on, dependents of the failed node do not', async () => {
    const made = testEngine();
    const nodes = [
      { id: 'a', ...step('a') },
      { id: 'b', ...step('b') },
      { id: 'c', ...step('c'), depends_on: ['a'] },
      { id: 'd', ...step('d'), depends_on: ['b'] },
      { id: 'e', ...step('e'), depends_on: ['c', 'd'] },
    ];
    const { id } = await made.waybill.workflows.create({ nodes });
    const first = await claimAll(made);
    await settle(made, first.get('a'), failed);
    await settle(made, first.get('b'), done('B'));
    const second = await claimAll(made);
    expect([...second.keys()]).toEqual(['d']);
    await settle(made, second.get('d'), done('D'));
    await settleDown(made);
    expect(await made.waybill.workflows.get(id)).toMatchObject({
      state: 'failed',
      completed: 2,
      failed: 1,
      cancelled: 2,
    });
  });

  test('resume runs the failed node and what waited for it, and nothing else', async () => {
    const made = testEngine();
    const { id } = await made.waybill.workflows.create({ type: 'chain', steps: ['a', 'b', 'c'].map(step) });
    await settle(made, (await claimAll(made)).get('a'), done('A'));
    await settle(made, (await claimAll(made)).get('b'), failed);
    await settleDown(made);
    expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'failed' });
    expect(await made.waybill.workflows.resume(id)).toMatchObject({ state: 'running' });
    const again = await claimAll(made);
    expect([...again.keys()]).toEqual(['b']);
    expect(again.get('b')!.parentResults).toEqual(['A']);
    await settle(made, again.get('b'), done('B'));
    const last = await claimAll(made);
    await settle(made, last.get('c'), done('C'));
    await settleDown(made);
    expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'completed', completed: 3, failed: 0 });
    await expect(made.waybill.workflows.resume(id)).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('A2: retention', () => {
  const retention = { finishedMs: 60_000, deadMs: 600_000, eventsMs: 60_000, everyMs: 10_000 };
  const outlive = async (made: Made, ms = 120_000) => {
    await made.clock.advance(ms);
    await settleDown(made);
  };

  // fault: a node fails, and the other runs for longer than finished jobs are kept
  test('a node that failed long ago still fails its workflow', async () => {
    const made = testEngine({ retention });
    const callbacks = { on_success: step('yes'), on_failure: step('no') };
    const { id } = await made.waybill.workflows.create({ type: 'batch', jobs: ['a', 'b'].map(step), callbacks });
    const leases = await claimAll(made);
    await settle(made, leases.get('a'), failed);
    await outlive(made);
    await settle(made, leases.get('b'), done('b'));
    expect([...(await claimAll(made)).keys()]).toEqual(['no']);
    expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'failed', completed: 1, failed: 1 });
  });

  // fault: a parent is older than finished jobs are kept when its child starts
  test('results stay in their places, also after a repair', async () => {
    const made = testEngine({ retention });
    const nodes = [
      ...['a', 'b'].map((name) => ({ id: name, ...step(name) })),
      { id: 'c', ...step('c'), depends_on: ['a', 'b'] },
    ];
    const { id } = await made.waybill.workflows.create({ nodes });
    const leases = await claimAll(made);
    await settle(made, leases.get('a'), done('A'));
    await outlive(made);
    await settle(made, leases.get('b'), failed);
    await settleDown(made);
    await made.waybill.workflows.resume(id);
    await settle(made, (await claimAll(made)).get('b'), done('B'));
    expect((await claimAll(made)).get('c')!.parentResults).toEqual(['A', 'B']);
    expect(await made.waybill.workflows.get(id)).toMatchObject({ total: 3, completed: 2 });
  });

  // fault: only the dead letters of a workflow are left
  test('a workflow that has lost nodes cannot be resumed', async () => {
    const made = testEngine({ retention });
    const { id } = await made.waybill.workflows.create({ type: 'group', jobs: ['a', 'b'].map(step) });
    const leases = await claimAll(made);
    await settle(made, leases.get('a'), done('A'));
    await settle(made, leases.get('b'), { ...failed, deadLetter: true } as Outcome);
    await outlive(made);
    await expect(made.waybill.workflows.resume(id)).rejects.toMatchObject({ code: 'conflict' });
    expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'failed', failed: 1 });
  });
});

describe('A8: two groups in a chain', () => {
  const group = (...names: string[]) => ({ type: 'group', jobs: names.map(step) });
  const create = async (made: Made, options: Record<string, unknown> = {}) => {
    const steps = [group('a', 'b', 'c'), group('d', 'e')];
    return (await made.waybill.workflows.create({ type: 'chain', steps, ...options })).id;
  };

  test('the second starts after all of the first, with their results in order; counts and nodes are the jobs alone', async () => {
    const made = testEngine();
    const id = await create(made);
    const first = await claimAll(made);
    expect([...first.keys()].sort()).toEqual(['a', 'b', 'c']);
    for (const name of ['c', 'a']) await settle(made, first.get(name), done(name));
    expect(await claimAll(made)).toEqual(new Map());
    await settle(made, first.get('b'), done('b'));
    const second = await claimAll(made);
    expect([...second.keys()].sort()).toEqual(['d', 'e']);
    for (const name of ['d', 'e']) expect(second.get(name)!.parentResults).toEqual(['a', 'b', 'c']);
    expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'running', total: 5, completed: 3 });
    const { items } = await made.waybill.workflows.nodes(id, { limit: 20 });
    const parents = Object.fromEntries(items.map(({ node, dependsOn }) => [node, dependsOn]));
    const all = ['0.0', '0.1', '0.2'];
    expect(parents).toEqual({ '0.0': [], '0.1': [], '0.2': [], '1.0': all, '1.1': all });
    for (const name of ['d', 'e']) await settle(made, second.get(name), done(name));
    await settleDown(made);
    expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'completed', total: 5, completed: 5 });
    expect((await made.waybill.jobs.list({ limit: 20 })).items).toHaveLength(5);
  });

  test.each(['stop', 'continue'])('failure policy %s: the second waits in vain, and is resumed', async (policy) => {
    const made = testEngine();
    const id = await create(made, { failure_policy: policy });
    const first = await claimAll(made);
    await settle(made, first.get('a'), done('a'));
    await settle(made, first.get('b'), done('b'));
    await settle(made, first.get('c'), failed);
    await settleDown(made);
    const ended = { state: 'failed', total: 5, completed: 2, failed: 1, cancelled: 2 };
    expect(await made.waybill.workflows.get(id)).toMatchObject(ended);
    await made.waybill.workflows.resume(id);
    await settle(made, (await claimAll(made)).get('c'), done('again'));
    const second = await claimAll(made);
    expect([...second.keys()].sort()).toEqual(['d', 'e']);
    expect(second.get('e')!.parentResults).toEqual(['a', 'b', 'again']);
  });
});

describe('callbacks of a batch', () => {
  const callbacks = { on_success: step('yes'), on_failure: step('no'), on_complete: step('over') };

  test('all went well: on_success and on_complete, once, with the results', async () => {
    const made = testEngine();
    const { id } = await made.waybill.workflows.create({
      type: 'batch',
      name: 'mine',
      jobs: ['a', 'b'].map(step),
      callbacks,
    });
    const leases = await claimAll(made);
    await Promise.all([...leases].map(([name, lease]) => settle(made, lease, done(name))));
    const called = await claimAll(made);
    expect([...called.keys()].sort()).toEqual(['over', 'yes']);
    expect(called.get('yes')!.parentResults).toEqual(['a', 'b']);
    expect(called.get('over')!.job.spec.meta).toMatchObject({
      workflow_id: id,
      workflow_name: 'mine',
      workflow_state: 'completed',
    });
    expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'completed', total: 2, completed: 2 });
  });

  test('one failed: on_failure and on_complete, after all have finished', async () => {
    const made = testEngine();
    await made.waybill.workflows.create({ type: 'batch', jobs: ['a', 'b'].map(step), callbacks });
    const leases = await claimAll(made);
    await settle(made, leases.get('a'), failed);
    expect(await claimAll(made)).toEqual(new Map());
    await settle(made, leases.get('b'), done('b'));
    expect([...(await claimAll(made)).keys()].sort()).toEqual(['no', 'over']);
  });
});

test('nodes join a running workflow, also behind nodes that have finished', async () => {
  const made = testEngine();
  const { id } = await made.waybill.workflows.create({
    nodes: [
      { id: 'a', ...step('a') },
      { id: 'b', ...step('b') },
    ],
  });
  const leases = await claimAll(made);
  await settle(made, leases.get('a'), done('A'));
  await settleDown(made);
  await made.waybill.workflows.addNodes(id, [
    { id: 'c', ...step('c'), depends_on: ['a'] },
    { id: 'd', ...step('d'), depends_on: ['c', 'b'] },
  ]);
  const joined = await claimAll(made);
  expect([...joined.keys()]).toEqual(['c']);
  expect(joined.get('c')!.parentResults).toEqual(['A']);
  await settle(made, joined.get('c'), done('C'));
  await settle(made, leases.get('b'), failed);
  await settleDown(made);
  expect(await made.waybill.workflows.get(id)).toMatchObject({
    state: 'failed',
    total: 4,
    completed: 2,
    failed: 1,
    cancelled: 1,
  });
  await expect(made.waybill.workflows.addNodes(id, [{ id: 'e', ...step('e') }])).rejects.toMatchObject({
    code: 'conflict',
  });
});

describe('A4: nodes that are added again', () => {
  const added = [
    { id: 'b', ...step('b'), depends_on: ['a'] },
    { id: 'c', ...step('c'), options: { queue: 'other', tags: ['x'] }, depends_on: ['b', 'a'] },
  ];

  // fault: the same call is made ten times at once, and again later
  test('are there once, and every call has the same answer', async () => {
    const made = testEngine();
    const { workflows } = made.waybill;
    const { id } = await workflows.create({ nodes: [{ id: 'a', ...step('a') }] });
    const answers = await Promise.all(Array.from({ length: 10 }, () => workflows.addNodes(id, added)));
    expect(new Set(answers.map(({ total }) => total))).toEqual(new Set([3]));
    expect((await workflows.nodes(id, { limit: 20 })).items.map(({ node }) => node).sort()).toEqual(['a', 'b', 'c']);
    await workflows.cancel(id);
    expect(await workflows.addNodes(id, added)).toMatchObject({ state: 'cancelled', total: 3 });
  });

  test.each<[string, (typeof added)[number][]]>([
    ['other arguments', [{ ...added[0]!, args: ['z'] }]],
    ['other parents', [{ ...added[0]!, depends_on: [] }]],
    ['parents in another order', [{ ...added[1]!, depends_on: ['a', 'b'] }]],
    ['another queue', [{ ...added[1]!, options: { queue: 'default', tags: ['x'] } }]],
    ['a new one beside them', [...added, { id: 'd', ...step('d'), depends_on: [] }]],
  ])('are refused when they are not the same: %s', async (_, nodes) => {
    const { waybill } = testEngine();
    const { id } = await waybill.workflows.create({ nodes: [{ id: 'a', ...step('a') }] });
    await waybill.workflows.addNodes(id, added);
    await expect(waybill.workflows.addNodes(id, nodes)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await waybill.workflows.get(id)).toMatchObject({ total: 3 });
  });
});

test('a cancelled workflow starts nothing more, and its workers lose their leases', async () => {
  const made = testEngine();
  const { id } = await made.waybill.workflows.create({ type: 'chain', steps: ['a', 'b'].map(step) });
  const { a } = Object.fromEntries(await claimAll(made));
  expect(await made.waybill.workflows.cancel(id)).toMatchObject({ state: 'cancelled', cancelled: 2 });
  await expect(settle(made, a, done('late'))).rejects.toMatchObject({ code: 'lease_lost' });
  expect(await claimAll(made)).toEqual(new Map());
  expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'cancelled' });
});

test('what is wrong with one node keeps all of it out', async () => {
  const { waybill } = testEngine();
  const bad = { type: 'group', jobs: [step('a'), { type: 'NOT OK', args: [] }] };
  await expect(waybill.workflows.create(bad)).rejects.toMatchObject({
    code: 'invalid_request',
    details: { node: '1', field: 'type' },
  });
  expect((await waybill.jobs.list({ limit: 10 })).items).toEqual([]);
  expect((await waybill.workflows.list({ limit: 10 })).items).toEqual([]);
});

// fault: a caller activates a waiting node by hand
test('guarantee 8: a waiting node cannot be started by hand', async () => {
  const made = testEngine();
  const { id } = await made.waybill.workflows.create({ type: 'chain', steps: ['a', 'b'].map(step) });
  const { items } = await made.waybill.workflows.nodes(id, { limit: 10 });
  const waiting = items.find(({ state }) => state === 'pending');
  await expect(made.waybill.jobs.activate(waiting!.id)).rejects.toMatchObject({ code: 'conflict' });
});

test('A18: a root that its producer holds back is activated by hand, and its children follow', async () => {
  const made = testEngine();
  const held = { id: 'a', ...step('a'), options: { pending: true } };
  const { id } = await made.waybill.workflows.create({ nodes: [held, { id: 'b', ...step('b'), depends_on: ['a'] }] });
  expect(await claimAll(made)).toEqual(new Map());
  // Repairing a workflow starts nothing that was never started.
  await made.waybill.workflows.resume(id);
  expect(await claimAll(made)).toEqual(new Map());
  const { items } = await made.waybill.workflows.nodes(id, { limit: 10 });
  const [a, b] = ['a', 'b'].map((name) => items.find(({ node }) => node === name)!.id);
  await expect(made.waybill.jobs.activate(b!)).rejects.toMatchObject({ code: 'conflict' });
  expect(await made.waybill.jobs.activate(a!)).toMatchObject({ state: 'available' });
  await settle(made, (await claimAll(made)).get('a'), done('A'));
  const second = await claimAll(made);
  expect(second.get('b')!.parentResults).toEqual(['A']);
  await settle(made, second.get('b'), done('B'));
  await settleDown(made);
  expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'completed', completed: 2 });
});

test('A18: a root that waited for its time and was stopped starts when its workflow is resumed', async () => {
  const made = testEngine();
  const later = { id: 'b', ...step('b'), options: { scheduled_at: '+PT1H' } };
  const request = { nodes: [{ id: 'a', ...step('a') }, later], failure_policy: 'stop' };
  const { id } = await made.waybill.workflows.create(request);
  await settle(made, (await claimAll(made)).get('a'), failed);
  await settleDown(made);
  expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'failed', failed: 1, cancelled: 1 });
  await made.waybill.workflows.resume(id);
  expect([...(await claimAll(made)).keys()].sort()).toEqual(['a', 'b']);
});

// fault: a node joins between the last look at the nodes and the end of the workflow
test('A3: a workflow that nodes join while it is being ended goes on until they have finished', async () => {
  const clock = new TestClock();
  const model = memoryStore({ clock });
  let join: (() => Promise<unknown>) | undefined;
  const hasUnfinished: typeof model.workflows.hasUnfinished = async (...args) => {
    const answer = await model.workflows.hasUnfinished(...args);
    const joining = join;
    if (!answer) join = undefined;
    if (!answer) await joining?.();
    return answer;
  };
  const made = testEngine({ clock, on: { ...model, workflows: { ...model.workflows, hasUnfinished } } });
  const request = { type: 'batch', jobs: [step('a')], callbacks: { on_success: step('yes') } };
  const { id } = await made.waybill.workflows.create(request);
  join = () => made.waybill.workflows.addNodes(id, [{ id: 'b', ...step('b'), depends_on: ['0'] }]);
  await settle(made, (await claimAll(made)).get('a'), done('A'));
  expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'running', total: 2 });
  const second = await claimAll(made);
  expect([...second.keys()]).toEqual(['b']);
  await settle(made, second.get('b'), done('B'));
  expect([...(await claimAll(made)).keys()]).toEqual(['yes']);
  expect(await made.waybill.workflows.get(id)).toMatchObject({ state: 'completed', completed: 2 });
});

test('nodes tell what they wait for, by name', async () => {
  const { waybill } = testEngine();
  const nodes = [
    { id: 'a', ...step('a') },
    { id: 'b', ...step('b') },
    { id: 'c', ...step('c'), depends_on: ['b', 'a'] },
  ];
  const { id } = await waybill.workflows.create({ nodes });
  await waybill.workflows.addNodes(id, [{ id: 'd', ...step('d'), depends_on: ['a', 'c'] }]);
  const { items } = await waybill.workflows.nodes(id, { limit: 10 });
  expect(Object.fromEntries(items.map(({ node, dependsOn }) => [node, dependsOn]))).toEqual({
    ...{ a: [], b: [], c: ['b', 'a'], d: ['a', 'c'] },
  });
});
