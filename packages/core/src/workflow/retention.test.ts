import { describe, expect, test } from 'vitest';
import type { Outcome } from '../job/outcome.ts';
import { testEngine } from '../testing/test-engine.ts';
import { claimAll, done, failed, type Made, settle, settleDown, step } from '../testing/workflow-runs.ts';

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
