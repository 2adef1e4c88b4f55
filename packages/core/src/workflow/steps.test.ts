import { expect, test } from 'vitest';
import { testEngine } from '../testing/test-engine.ts';
import { claimAll, done, settle, settleDown, step } from '../testing/workflow-runs.ts';

// fault: the read of the workflow breaks while three of its nodes are settled
test('nodes that are settled together read their workflow once, and a read that fails leaves nothing unheard', async () => {
  const unheard: unknown[] = [];
  const note = (reason: unknown) => unheard.push(reason);
  process.on('unhandledRejection', note);
  try {
    const made = testEngine({ faults: [{ method: 'count', call: 1, when: 'before' }] });
    await made.waybill.workflows.create({ type: 'group', jobs: ['a', 'b', 'c', 'd'].map(step) });
    const leases = await claimAll(made);
    const some = ['a', 'b', 'c'].map((name) => leases.get(name));
    await Promise.allSettled(some.map((lease) => settle(made, lease, done('x'))));
    await settleDown(made);
    expect(unheard).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});

test('nodes that are settled together are counted once', async () => {
  const made = testEngine();
  await made.waybill.workflows.create({ type: 'group', jobs: ['a', 'b', 'c', 'd'].map(step) });
  const leases = await claimAll(made);
  await Promise.all(['a', 'b', 'c'].map((name) => settle(made, leases.get(name), done('x'))));
  expect(made.store.calls('count')).toBe(1);
});
