import { describe, expect, test } from 'vitest';
import { memoryStore } from '../store/memory/memory-store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import { claimAll, done, settle, step } from '../testing/workflow-runs.ts';

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

  test.each<[string, object[]]>([
    ['other arguments', [{ ...added[0]!, args: ['z'] }]],
    ['other parents', [{ ...added[0]!, depends_on: [] }]],
    ['parents in another order', [{ ...added[1]!, depends_on: ['a', 'b'] }]],
    ['held back', [{ ...added[0]!, options: { pending: true } }]],
    ['due later', [{ ...added[0]!, options: { scheduled_at: '+PT1H' } }]],
    ['gone sooner', [{ ...added[0]!, options: { expires_at: '+PT1H' } }]],
    ['another queue', [{ ...added[1]!, options: { queue: 'default', tags: ['x'] } }]],
    ['a new one beside them', [...added, { id: 'd', ...step('d'), depends_on: [] }]],
  ])('are refused when they are not the same: %s', async (_, nodes) => {
    const { waybill } = testEngine();
    const { id } = await waybill.workflows.create({ nodes: [{ id: 'a', ...step('a') }] });
    await waybill.workflows.addNodes(id, added);
    await expect(waybill.workflows.addNodes(id, nodes)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/repeats '[bc]', which exists already in this workflow: every node needs/),
    });
    expect(await waybill.workflows.get(id)).toMatchObject({ total: 3 });
  });

  // fault: the producer starts the node between two calls that are the same
  test('are the same when they were held back in both calls, also after their start', async () => {
    const { waybill } = testEngine();
    const { id } = await waybill.workflows.create({ nodes: [{ id: 'a', ...step('a') }] });
    const held = [{ id: 'h', ...step('h'), options: { pending: true } }];
    await waybill.workflows.addNodes(id, held);
    const { items } = await waybill.workflows.nodes(id, { limit: 9 });
    await waybill.jobs.activate(items.find(({ node }) => node === 'h')!.id);
    expect(await waybill.workflows.addNodes(id, held)).toMatchObject({ total: 2 });
    await expect(waybill.workflows.addNodes(id, [{ id: 'h', ...step('h') }])).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
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
