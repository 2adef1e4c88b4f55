import { describe, expect, it } from 'vitest';
import { transition } from '../../job/transition.ts';
import { DISCARDED, idsOf, type OpenBench, sortedIds } from './bench.ts';
import { complete, plant } from './graph.ts';

/** Advancing nodes; what holds for the workflow as a whole is in workflow-records.ts. */
export function testWorkflows(open: OpenBench): void {
  describe('workflow nodes', () => {
    // fault: none, the rule itself
    it('guarantee 8: a child starts after its parent completed, as transition() says', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'], c: ['b'] });
      await complete(bench, node('a'));
      const expected = transition(node('b'), { do: 'activate' }, bench.now)!;
      expect(await bench.advance(node('a'))).toEqual([expected.job]);
      expect((await bench.eventsOf(node('b'))).slice(1)).toEqual(expected.events);
      expect(idsOf(await bench.claim())).toEqual([node('b').id]);
      expect((await bench.read(node('c'))).state).toBe('pending');
    });

    // fault: the same call is made again
    it('guarantee 8: meet answers the children that wait for nothing more, again and again', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: [], join: ['a', 'b'], other: ['a'] });
      const meet = (...names: string[]) =>
        bench.store.workflows.meet({ tenant: '', ids: names.map((name) => node(name).id) });
      expect(await meet('a', 'b')).toEqual([]);
      await complete(bench, node('a'));
      for (let i = 0; i < 2; i++) expect(await meet('a', 'b')).toEqual([node('other')]);
      await complete(bench, node('b'));
      for (let i = 0; i < 2; i++) expect(await meet('b')).toEqual([node('join')]);
      expect(sortedIds(await meet('a', 'b'))).toEqual(sortedIds([node('join'), node('other')]));
      await bench.command(node('join'), { do: 'activate' });
      expect(await meet('a', 'b')).toEqual([node('other')]);
      expect(await meet()).toEqual([]);
    });

    // fault: none, the rule itself
    it('guarantee 8: a child of several parents waits for the last of them', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: [], c: [], join: ['a', 'b', 'c'] });
      for (const parent of ['b', 'c']) {
        await complete(bench, node(parent));
        expect(await bench.advance(node(parent))).toEqual([]);
      }
      await complete(bench, node('a'));
      expect(idsOf(await bench.advance(node('a')))).toEqual([node('join').id]);
    });

    // fault: the same call is made again
    it('guarantee 8: advanced again, a parent starts nothing again', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      await complete(bench, node('a'));
      expect(await bench.advance(node('a'))).toHaveLength(1);
      expect(await bench.advance(node('a'))).toEqual([]);
      await complete(bench, node('b'));
      expect(await bench.advance(node('a'))).toEqual([]);
      expect(await bench.read(node('b'))).toMatchObject({ state: 'completed', run: 1 });
    });

    // fault: many servers advance the same parents at once
    it('guarantee 8: parents advanced by many servers at once start a child once', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: [], c: [], join: ['a', 'b', 'c'], other: ['a'] });
      const parents = ['a', 'b', 'c'].map(node);
      const each = Array.from({ length: 21 }, (_, i) => parents[i % 3]!);
      const finish = async (parent: (typeof parents)[number]) => {
        await complete(bench, parent);
        await bench.advance(parent);
      };
      await Promise.all([...parents.map(finish), ...each.map((parent) => bench.advance(parent))]);
      await Promise.all(each.map((parent) => bench.advance(parent)));
      const enqueued = await bench.log({ types: ['job.enqueued'], jobIds: [node('join').id, node('other').id] });
      expect(enqueued).toHaveLength(2);
      expect(sortedIds(await bench.claim())).toEqual(sortedIds([node('join'), node('other')]));
    });

    it('takes the alarm off the parent last and leaves the rest of it alone', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      await complete(bench, node('a'));
      const settled = await bench.read(node('a'));
      expect(settled).toMatchObject({ advancePending: true, nextAt: bench.now });
      await bench.advance(node('a'));
      expect(await bench.read(node('a'))).toEqual({ ...settled, advancePending: false, nextAt: null });
    });

    // fault: the parent is discarded
    it('guarantee 8: a parent that did not complete starts nothing', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      await complete(bench, node('a'), DISCARDED);
      expect(await bench.advance(node('a'))).toEqual([]);
      expect((await bench.read(node('b'))).state).toBe('pending');
    });

    // fault: the parent is discarded, and replayed later
    it('guarantee 8: a parent that failed first and was repaired starts its children', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      await complete(bench, node('a'), DISCARDED);
      await bench.advance(node('a'));
      await bench.command(node('a'), { do: 'replay' });
      await complete(bench, node('a'));
      expect(idsOf(await bench.advance(node('a')))).toEqual([node('b').id]);
    });

    // fault: the node is cancelled, and reinstated later
    it('guarantee 8: a node that was cancelled and reinstated is dispatched once more', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      await bench.command(node('b'), { do: 'cancel' });
      await complete(bench, node('a'));
      expect(await bench.advance(node('a'))).toEqual([]);
      expect((await bench.read(node('b'))).state).toBe('cancelled');
      await bench.command(node('b'), { do: 'reinstate' });
      expect(idsOf(await bench.advance(node('a')))).toEqual([node('b').id]);
      expect(await bench.advance(node('a'))).toEqual([]);
    });

    it('a parent that still lives, or is not there, starts nothing', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      expect(await bench.advance(node('a'))).toEqual([]);
      await bench.claim();
      expect(await bench.advance(node('a'))).toEqual([]);
      expect(await bench.advance(bench.make().job)).toEqual([]);
      expect((await bench.read(node('b'))).state).toBe('pending');
    });

    it('waiting: the children that are still pending, each once, whatever their other parents do', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: [], join: ['a', 'b'], other: ['a'], gone: ['a'], deep: ['join'] });
      await bench.command(node('gone'), { do: 'cancel' });
      const waiting = (...names: string[]) =>
        bench.store.workflows.waiting({ tenant: '', ids: names.map((name) => node(name).id) });
      expect(sortedIds(await waiting('a', 'b'))).toEqual(sortedIds([node('join'), node('other')]));
      expect(await waiting('join')).toEqual([node('deep')]);
      expect(await waiting('deep')).toEqual([]);
      await complete(bench, node('a'));
      await bench.advance(node('a'));
      expect(idsOf(await waiting('a'))).toEqual([node('join').id]);
    });

    it('parents: in the order of the edges, with what they came to', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: [], c: [], join: ['c', 'a', 'b'], other: ['b', 'c'] });
      await complete(bench, node('a'));
      await complete(bench, node('b'), DISCARDED);
      const parents = await bench.store.workflows.parents({
        tenant: '',
        ids: [node('other').id, node('a').id, node('join').id, 'unknown'],
      });
      const ended = (outcome: string) => ({ state: outcome, outcome, finishedAt: bench.now });
      const a = { id: node('a').id, node: 'a', ...ended('completed'), result: { ok: true } };
      const b = { id: node('b').id, node: 'b', ...ended('discarded'), result: null };
      const c = { id: node('c').id, node: 'c', state: 'available', outcome: null, finishedAt: null, result: null };
      expect(parents).toEqual([[b, c], [], [c, a, b], []]);
    });

    // fault: none, the rule itself
    it('guarantee 7: a child with a limit gets a slot or is parked', async () => {
      const bench = await open();
      await bench.limit({ concurrency: 1 });
      const limited = { limitKey: 'k' };
      const node = await plant(bench, { a: [], b: ['a'], c: ['a'] }, { b: limited, c: limited });
      await complete(bench, node('a'));
      const dispatched = await bench.advance(node('a'));
      expect(dispatched.map((job) => job.holdsSlot).sort()).toEqual([false, true]);
      expect(await bench.claim()).toHaveLength(1);
    });
  });
}
