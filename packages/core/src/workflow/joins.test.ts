import { describe, expect, test } from 'vitest';
import { testEngine } from '../testing/test-engine.ts';
import { claimAll, done, failed, type Made, settle, settleDown, step } from '../testing/workflow-runs.ts';

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
