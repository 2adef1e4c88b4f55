import { describe, expect, test } from 'vitest';
import { testEngine } from '../testing/test-engine.ts';
import { claimAll, done, failed, settle, settleDown, step } from '../testing/workflow-runs.ts';

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
