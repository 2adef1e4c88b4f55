import { describe, expect, it } from 'vitest';
import type { Edge } from '../../store/insert.ts';
import { aWorkflow } from '../factories.ts';
import { type Bench, DISCARDED, idsOf, type OpenBench, sortedIds } from './bench.ts';
import { complete } from './graph.ts';

/** Two groups, one behind the other, by a join between them: the second waits for all of the first. */
async function plantGroups(bench: Bench, before: number, after: number) {
  const [join] = [bench.make().job.id];
  const first = Array.from({ length: before }, (_, i) => bench.make({ workflowId: 'flow', node: `0.${i}` }));
  const second = Array.from({ length: after }, (_, i) =>
    bench.make({ workflowId: 'flow', node: `1.${i}`, state: 'pending' }),
  );
  const edges: Edge[] = [
    // Not in the order of their ids, so that the order of the edges shows.
    ...first.toReversed().map(({ job }): Edge => ({ parent: job.id, child: join!, join: 'into_join' })),
    ...second.map(({ job }): Edge => ({ parent: join!, child: job.id, join: 'out_of_join' })),
  ];
  const jobs = [...first, ...second];
  const create = aWorkflow({ total: jobs.length, createdAt: bench.now });
  expect(await bench.store.insert([{ jobs, edges, workflow: { create } }])).toMatchObject([{ status: 'inserted' }]);
  return { join: join!, first: first.map(({ job }) => job), second: second.map(({ job }) => job) };
}

export function testJoins(open: OpenBench): void {
  describe('joins', () => {
    // fault: none, the rule itself
    it('A8: those behind a join start after all those before it, each once', async () => {
      const bench = await open();
      const { first, second } = await plantGroups(bench, 3, 2);
      for (const job of first.slice(1)) {
        await complete(bench, job);
        expect(await bench.advance(job)).toEqual([]);
      }
      await complete(bench, first[0]!);
      const { meet } = bench.store.workflows;
      for (let i = 0; i < 2; i++)
        expect(sortedIds(await meet({ tenant: '', ids: idsOf(first) }))).toEqual(sortedIds(second));
      expect(sortedIds(await bench.advance(first[0]!))).toEqual(sortedIds(second));
      expect(await bench.advance(...first)).toEqual([]);
      expect(sortedIds(await bench.claim())).toEqual(sortedIds(second));
    });

    // fault: many servers advance all that is before the join at once
    it('A8: advanced by many servers at once, a join lets each through once', async () => {
      const bench = await open();
      const { first, second } = await plantGroups(bench, 4, 3);
      const finish = async (job: (typeof first)[number]) => {
        await complete(bench, job);
        await bench.advance(job);
      };
      await Promise.all([...first.map(finish), ...first.map((job) => bench.advance(job))]);
      await bench.advance(...first);
      const enqueued = await bench.log({ types: ['job.enqueued'], jobIds: idsOf(second) });
      expect(enqueued).toHaveLength(second.length);
    });

    it('A8: those behind a join see the results of all before it, in the order of the edges', async () => {
      const bench = await open();
      const { first, second } = await plantGroups(bench, 3, 2);
      await complete(bench, first[0]!);
      await complete(bench, first[1]!, DISCARDED);
      const families = await bench.store.workflows.parents({ tenant: '', ids: idsOf([...second, first[0]!]) });
      const ended = (outcome: string) => ({ outcome, finishedAt: bench.now });
      const expected = [
        { id: first[2]!.id, node: '0.2', state: 'available', outcome: null, finishedAt: null, result: null },
        { id: first[1]!.id, node: '0.1', state: 'discarded', ...ended('discarded'), result: null },
        { id: first[0]!.id, node: '0.0', state: 'completed', ...ended('completed'), result: { ok: true } },
      ];
      expect(families).toEqual([expected, expected, []]);
    });

    it('A8: those behind a join wait for what fails before it, and a join is no job', async () => {
      const bench = await open();
      const { join, first, second } = await plantGroups(bench, 3, 2);
      await complete(bench, first[0]!, DISCARDED);
      expect(await bench.advance(...first)).toEqual([]);
      const { waiting, hasUnfinished } = bench.store.workflows;
      expect(sortedIds(await waiting({ tenant: '', ids: [first[0]!.id] }))).toEqual(sortedIds(second));
      expect(await bench.store.get([{ tenant: '', id: join }])).toEqual([null]);
      expect(await bench.store.count({ tenant: '', workflowId: 'flow' }, { atMost: 100 })).toBe(5);
      for (const job of first.slice(1)) await complete(bench, job);
      for (const job of second) await bench.command(job, { do: 'cancel' });
      expect(await hasUnfinished('', 'flow')).toBe(false);
    });

    it('A8: a join of more than one transaction holds', async () => {
      const bench = await open();
      const { first, second } = await plantGroups(bench, 30, 30);
      for (const job of first) await complete(bench, job);
      expect(sortedIds(await bench.advance(...first))).toEqual(sortedIds(second));
    });
  });
}
