import { describe, expect, it } from 'vitest';
import type { Job } from '../../job/job.ts';
import { transition } from '../../job/transition.ts';
import type { NewJob } from '../../store/insert.ts';
import type { JobOverrides } from '../factories.ts';
import { type Bench, COMPLETED, DISCARDED, idsOf, type OpenBench, sortedIds } from './bench.ts';

/** Stores a graph given as `child: [its parents]`; nodes without parents start available. */
async function plant(bench: Bench, graph: Record<string, string[]>, more: Record<string, JobOverrides> = {}) {
  const nodes: Record<string, NewJob> = {};
  for (const [node, parents] of Object.entries(graph)) {
    const state = parents.length === 0 ? 'available' : 'pending';
    nodes[node] = bench.make({ workflowId: 'flow', node, state, ...more[node] });
  }
  const edges = Object.entries(graph).flatMap(([child, parents]) =>
    parents.map((parent) => ({ parent: nodes[parent]!.job.id, child: nodes[child]!.job.id })),
  );
  const [answer] = await bench.store.insert([{ jobs: Object.values(nodes), edges }]);
  expect(answer!.status).toBe('inserted');
  return (node: string): Job => nodes[node]!.job;
}

async function complete(bench: Bench, { tenant, id }: Job, outcome: typeof COMPLETED | typeof DISCARDED = COMPLETED) {
  const [answer] = await bench.store.claimById(bench.requestById([id], { tenant }));
  if (answer?.status !== 'claimed') throw new Error(`Expected the node to be claimed, but: ${answer?.status}.`);
  await bench.settle(answer.job, outcome);
}

const advance = async (bench: Bench, { tenant, id }: Job): Promise<Job[]> =>
  (await bench.store.workflows.advance({ tenant, parent: id, now: bench.now })).dispatched;

export function testWorkflows(open: OpenBench): void {
  describe('workflows', () => {
    it('guarantee 8: a child starts after its parent completed, as transition() says', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'], c: ['b'] });
      await complete(bench, node('a'));
      const expected = transition(node('b'), { do: 'activate' }, bench.now)!;
      expect(await advance(bench, node('a'))).toEqual([expected.job]);
      expect(await bench.read(node('b'))).toEqual(expected.job);
      expect((await bench.eventsOf(node('b'))).slice(1)).toEqual(expected.events);
      expect(idsOf(await bench.claim())).toEqual([node('b').id]);
      expect((await bench.read(node('c'))).state).toBe('pending');
    });

    it('guarantee 8: a child of several parents waits for the last of them', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: [], c: [], join: ['a', 'b', 'c'] });
      for (const parent of ['b', 'c']) {
        await complete(bench, node(parent));
        expect(await advance(bench, node(parent))).toEqual([]);
      }
      await complete(bench, node('a'));
      expect(idsOf(await advance(bench, node('a')))).toEqual([node('join').id]);
    });

    it('starts every child of a parent', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'], c: ['a'], d: ['a'] });
      await complete(bench, node('a'));
      expect(sortedIds(await advance(bench, node('a')))).toEqual(sortedIds(['b', 'c', 'd'].map(node)));
    });

    it('takes the alarm off the parent and leaves the rest of it alone', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      await complete(bench, node('a'));
      const settled = await bench.read(node('a'));
      expect(settled).toMatchObject({ advancePending: true, nextAt: bench.now });
      await advance(bench, node('a'));
      expect(await bench.read(node('a'))).toEqual({ ...settled, advancePending: false, nextAt: null });
    });

    it('guarantee 8: advanced again, a parent starts nothing again', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      await complete(bench, node('a'));
      expect(await advance(bench, node('a'))).toHaveLength(1);
      expect(await advance(bench, node('a'))).toEqual([]);
      await complete(bench, node('b'));
      expect(await advance(bench, node('a'))).toEqual([]);
      expect(await bench.read(node('b'))).toMatchObject({ state: 'completed', run: 1 });
    });

    it('guarantee 8: parents advanced by many servers at once start a child once', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: [], c: [], join: ['a', 'b', 'c'], other: ['a'] });
      const parents = ['a', 'b', 'c'].map(node);
      for (const parent of parents) await complete(bench, parent);
      const calls = Array.from({ length: 21 }, (_, i) => advance(bench, parents[i % 3]!));
      const dispatched = (await Promise.all(calls)).flat();
      expect(sortedIds(dispatched)).toEqual(sortedIds(['join', 'other'].map(node)));
      const enqueued = await bench.log({ types: ['job.enqueued'], jobIds: [node('join').id] });
      expect(enqueued).toHaveLength(1);
    });

    it('guarantee 8: a parent that did not complete starts nothing, and is not looked at again', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      await complete(bench, node('a'), DISCARDED);
      expect(await advance(bench, node('a'))).toEqual([]);
      expect(await bench.read(node('a'))).toMatchObject({ advancePending: false, nextAt: null });
      expect((await bench.read(node('b'))).state).toBe('pending');
    });

    it('guarantee 8: a parent that failed first and was repaired starts its children', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      await complete(bench, node('a'), DISCARDED);
      await advance(bench, node('a'));
      await bench.command(node('a'), { do: 'replay' });
      await complete(bench, node('a'));
      expect(idsOf(await advance(bench, node('a')))).toEqual([node('b').id]);
    });

    it('a parent that still lives, or is not there, starts nothing', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      expect(await advance(bench, node('a'))).toEqual([]);
      await bench.claim();
      expect(await advance(bench, node('a'))).toEqual([]);
      expect(await advance(bench, bench.make().job)).toEqual([]);
      expect((await bench.read(node('b'))).state).toBe('pending');
    });

    it('a child that was cancelled stays so', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'], c: ['a'] });
      await bench.command(node('b'), { do: 'cancel' });
      await complete(bench, node('a'));
      expect(idsOf(await advance(bench, node('a')))).toEqual([node('c').id]);
      expect((await bench.read(node('b'))).state).toBe('cancelled');
    });

    it('guarantee 7: a child with a limit gets a slot or is parked', async () => {
      const bench = await open();
      await bench.store.limits.set({ tenant: '', key: 'k', concurrency: 1 });
      const limited = { limitKey: 'k' };
      const node = await plant(bench, { a: [], b: ['a'], c: ['a'] }, { b: limited, c: limited });
      await complete(bench, node('a'));
      const dispatched = await advance(bench, node('a'));
      expect(dispatched).toEqual(await Promise.all(dispatched.map((job) => bench.read(job))));
      expect(dispatched.map((job) => job.holdsSlot).sort()).toEqual([false, true]);
      expect(await bench.claim()).toHaveLength(1);
    });

    it('edges may name parents of an earlier insert', async () => {
      const bench = await open();
      const parent = await bench.add({ workflowId: 'flow', node: 'a' });
      const child = bench.make({ workflowId: 'flow', node: 'b', state: 'pending' });
      await bench.store.insert([{ jobs: [child], edges: [{ parent: parent.id, child: child.job.id }] }]);
      await complete(bench, parent);
      expect(idsOf(await advance(bench, parent))).toEqual([child.job.id]);
    });
  });
}
