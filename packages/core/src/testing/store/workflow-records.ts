import { describe, expect, it } from 'vitest';
import type { WorkflowState } from '../../store/workflow-record.ts';
import { aWorkflow, jobIdAt } from '../factories.ts';
import { TEST_EPOCH } from '../test-clock.ts';
import { type Bench, DISCARDED, idsOf, type OpenBench } from './bench.ts';
import { complete, drawGraph, plant } from './graph.ts';

const LOST = { status: 'lost' };

const move = (bench: Bench, from: WorkflowState, to: WorkflowState, jobs = [bench.make()].slice(1)) =>
  bench.store.workflows.move({ tenant: '', id: 'flow', from, to, now: bench.now, jobs });

export function testWorkflowRecords(open: OpenBench): void {
  describe('workflows', () => {
    it('are stored with their nodes, or not at all', async () => {
      const bench = await open();
      const { workflows } = bench.store;
      const create = aWorkflow({ name: 'n', callbacks: { on_success: { type: 'x', args: [1] } }, total: 2 });
      const known = await bench.add();
      const { jobs, edges } = drawGraph(bench, { a: [], b: ['a'] });
      const clash = [...jobs, bench.make({ id: known.id })];
      const [refused] = await bench.store.insert([{ jobs: clash, edges, workflow: { create } }]);
      expect(refused).toMatchObject({ status: 'exists', index: 2 });
      expect(await workflows.get('', 'flow')).toBeNull();
      await bench.store.insert([{ jobs, edges, workflow: { create } }]);
      expect(await workflows.get('', 'flow')).toEqual(create);
    });

    // fault: the same call is made again
    it('guarantee 10: created again, they answer that they exist and stay as they are', async () => {
      const bench = await open();
      const { jobs, edges } = drawGraph(bench, { a: [], b: ['a'] });
      const group = { jobs, edges, workflow: { create: aWorkflow({ total: 2 }) } };
      await bench.store.insert([group]);
      await move(bench, 'running', 'cancelled');
      expect(await bench.store.insert([group])).toMatchObject([{ status: 'exists', index: 0 }]);
      expect(await bench.store.workflows.get('', 'flow')).toMatchObject({ state: 'cancelled', total: 2 });
    });

    it('are listed newest first, by state and page by page', async () => {
      const bench = await open();
      const ids = ['f1', 'f2', 'f3', 'f4'];
      for (const id of ids) {
        const create = aWorkflow({ id, state: id === 'f2' ? 'failed' : 'running' });
        await bench.store.insert([{ jobs: [bench.make({ workflowId: id })], workflow: { create } }]);
      }
      const listed = async (states?: WorkflowState[]) => {
        const found: string[] = [];
        for (let cursor: string | undefined, calls = 0; ; calls++) {
          expect(calls).toBeLessThan(20);
          const query = { tenant: '', limit: 2, ...(states && { states }), ...(cursor !== undefined && { cursor }) };
          const page = await bench.store.workflows.list(query);
          expect(page.items.length).toBeLessThanOrEqual(2);
          found.push(...page.items.map(({ id }) => id));
          if (page.cursor === undefined) return found;
          cursor = page.cursor;
        }
      };
      expect(await listed()).toEqual(['f4', 'f3', 'f2', 'f1']);
      expect(await listed(['running', 'completed'])).toEqual(['f4', 'f3', 'f1']);
      expect(await listed(['failed'])).toEqual(['f2']);
      expect(await listed(['cancelled'])).toEqual([]);
    });

    it('D11: are found by the first characters of their ids, by state and page by page', async () => {
      const bench = await open();
      const [early, one, two, late] = [1, 2, 3, 4].map((number) =>
        jobIdAt(TEST_EPOCH + (number === 3 ? 2 : number) * 100_000, number),
      ) as [string, string, string, string];
      for (const id of [early, one, two, late]) {
        const create = aWorkflow({ id, state: id === two ? 'failed' : 'running' });
        await bench.store.insert([{ jobs: [bench.make({ workflowId: id })], workflow: { create } }]);
      }
      const found = async (idPrefix: string, narrowed: { states?: WorkflowState[]; tenant?: string } = {}) => {
        const ids: string[] = [];
        for (let cursor: string | undefined, calls = 0; ; calls++) {
          expect(calls).toBeLessThan(20);
          const query = { tenant: '', idPrefix, limit: 1, ...narrowed, ...(cursor !== undefined && { cursor }) };
          const page = await bench.store.workflows.list(query);
          ids.push(...page.items.map(({ id }) => id));
          if (page.cursor === undefined) return ids;
          cursor = page.cursor;
        }
      };
      const shared = one.slice(0, 13);
      expect(await found(shared)).toEqual([two, one]);
      expect(await found(shared, { states: ['failed'] })).toEqual([two]);
      expect(await found(shared, { tenant: 'another' })).toEqual([]);
      for (const id of [early, one, late]) expect(await found(id)).toEqual([id]);
      expect(await found('ffff')).toEqual([]);
    });

    it('hasUnfinished: as long as one node has not finished', async () => {
      const bench = await open();
      const has = () => bench.store.workflows.hasUnfinished('', 'flow');
      expect(await has()).toBe(false);
      const node = await plant(bench, { a: [], b: ['a'], c: [] });
      expect(await has()).toBe(true);
      await complete(bench, node('a'));
      await complete(bench, node('c'), DISCARDED);
      expect(await has()).toBe(true);
      await bench.command(node('b'), { do: 'cancel' });
      expect(await has()).toBe(false);
      await bench.command(node('b'), { do: 'reinstate' });
      expect(await has()).toBe(true);
    });

    // fault: a second server moves the workflow from a state that it has left
    it('guarantee 8: move is a compare-and-set, with the jobs that come with it', async () => {
      const bench = await open();
      await plant(bench, { a: [] });
      await bench.claim();
      await bench.clock.advance(1000);
      const [callback, stale] = [bench.make(), bench.make()];
      expect(await move(bench, 'running', 'completed', [callback])).toMatchObject({ status: 'moved' });
      const moved = await bench.store.workflows.get('', 'flow');
      expect(moved).toMatchObject({ state: 'completed', finishedAt: bench.now, total: 1 });
      expect(await move(bench, 'running', 'failed', [stale])).toEqual(LOST);
      expect(await bench.find(stale.job)).toBeNull();
      expect(await bench.store.workflows.get('', 'flow')).toEqual(moved);
      expect(idsOf(await bench.claim())).toEqual([callback.job.id]);
      expect(await bench.eventsOf(callback.job)).toHaveLength(2);
      expect(
        await bench.store.workflows.move({ tenant: '', id: 'none', from: 'running', to: 'failed', now: 0, jobs: [] }),
      ).toEqual(LOST);
    });

    // fault: none, the rule itself
    it('guarantee 8: moved back to running, a workflow has not finished', async () => {
      const bench = await open();
      await plant(bench, { a: [] });
      await move(bench, 'running', 'failed');
      expect(await move(bench, 'failed', 'running')).toMatchObject({ status: 'moved' });
      expect(await bench.store.workflows.get('', 'flow')).toMatchObject({ state: 'running', finishedAt: null });
    });

    // fault: a node joins after the server that ends the workflow has looked
    it('A3: a workflow that nodes have joined meanwhile does not end', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [] });
      await complete(bench, node('a'));
      const end = (total: number) => {
        const { now } = bench;
        return bench.store.workflows.move({
          tenant: '',
          id: 'flow',
          from: 'running',
          to: 'completed',
          total,
          now,
          jobs: [],
        });
      };
      const jobs = [bench.make({ workflowId: 'flow', node: 'b' })];
      await bench.store.insert([{ jobs, workflow: { join: 'flow' } }]);
      expect(await end(1)).toEqual(LOST);
      expect(await bench.store.workflows.get('', 'flow')).toMatchObject({
        state: 'running',
        total: 2,
        finishedAt: null,
      });
      expect(await end(2)).toMatchObject({ status: 'moved' });
    });

    // fault: twenty servers end workflows that a node is joining
    it('A3: a node that could join finds its workflow running', async () => {
      const bench = await open();
      const ids = Array.from({ length: 20 }, (_, i) => `f${i}`);
      const group = (id: string) => ({ jobs: [bench.make({ workflowId: id, node: 'a' })] });
      await bench.store.insert(ids.map((id) => ({ ...group(id), workflow: { create: aWorkflow({ id, total: 1 }) } })));
      const end = { tenant: '', from: 'running', to: 'completed', total: 1, now: bench.now, jobs: [] } as const;
      const races = ids.map(async (id) => {
        const jobs = [bench.make({ workflowId: id, node: 'b' })];
        const [[joined], ended] = await Promise.all([
          bench.store.insert([{ jobs, workflow: { join: id } }]),
          bench.store.workflows.move({ ...end, id }),
        ]);
        return [joined!.status, ended.status];
      });
      for (const [joined, ended] of await Promise.all(races)) expect(joined === 'inserted').toBe(ended === 'lost');
    });

    // fault: ten servers act at once
    it('guarantee 8: of ten servers that end a workflow, one does, with its callbacks', async () => {
      const bench = await open();
      await plant(bench, { a: [] });
      await bench.claim();
      const moves = Array.from({ length: 10 }, (_, i) =>
        move(bench, 'running', i % 2 ? 'completed' : 'failed', [bench.make(), bench.make()]),
      );
      expect((await Promise.all(moves)).filter(({ status }) => status === 'moved')).toHaveLength(1);
      expect(await bench.claim()).toHaveLength(2);
    });

    it('jobs join a running workflow and are counted', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [] });
      const child = bench.make({ workflowId: 'flow', node: 'b', state: 'pending' });
      const edges = [{ parent: node('a').id, child: child.job.id }];
      const joining = { jobs: [child], edges, workflow: { join: 'flow' } };
      expect(await bench.store.insert([joining])).toEqual([{ status: 'inserted', jobs: [child.job], admitted: [] }]);
      expect(await bench.store.workflows.get('', 'flow')).toMatchObject({ total: 2 });
      expect(await bench.store.insert([joining])).toMatchObject([{ status: 'exists' }]);
      expect(await bench.store.workflows.get('', 'flow')).toMatchObject({ total: 2 });
      await complete(bench, node('a'));
      expect(idsOf(await bench.advance(node('a')))).toEqual([child.job.id]);
    });

    // fault: the parent has completed and was advanced before the child joins
    it('guarantee 8: a job that joins under a parent that has completed is found by meeting it again', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [] });
      await complete(bench, node('a'));
      await bench.advance(node('a'));
      const child = bench.make({ workflowId: 'flow', node: 'b', state: 'pending' });
      const edges = [{ parent: node('a').id, child: child.job.id }];
      await bench.store.insert([{ jobs: [child], edges, workflow: { join: 'flow' } }]);
      expect(idsOf(await bench.advance(node('a')))).toEqual([child.job.id]);
    });

    // fault: a node of that name is there already, also after the workflow has ended
    it('A4: no two nodes of a workflow have the same name', async () => {
      const bench = await open();
      await plant(bench, { a: [], b: [] });
      const join = async (...names: string[]) => {
        const jobs = names.map((node) => bench.make({ workflowId: 'flow', node }));
        const [answer] = await bench.store.insert([{ jobs, workflow: { join: 'flow' } }]);
        if (answer!.status !== 'inserted') for (const { job } of jobs) expect(await bench.find(job)).toBeNull();
        return answer;
      };
      expect(await join('c', 'b')).toEqual({ status: 'named', index: 1 });
      expect(await join('d', 'd')).toEqual({ status: 'named', index: 1 });
      expect(await bench.store.workflows.get('', 'flow')).toMatchObject({ total: 2 });
      expect(await join('c', 'd')).toMatchObject({ status: 'inserted' });
      await move(bench, 'running', 'failed');
      expect(await join('e', 'c')).toEqual({ status: 'named', index: 1 });
      expect(await join('e')).toEqual({ status: 'closed' });
      const twins = ['a', 'a'].map((node) => bench.make({ workflowId: 'other', node }));
      const create = aWorkflow({ id: 'other', total: 2 });
      expect(await bench.store.insert([{ jobs: twins, workflow: { create } }])).toEqual([
        { status: 'named', index: 1 },
      ]);
      const same = { jobs: twins.slice(1), workflow: { create: { ...create, total: 1 } } };
      expect(await bench.store.insert([same])).toMatchObject([{ status: 'inserted' }]);
      expect(await bench.store.workflows.get('', 'other')).toMatchObject({ total: 1 });
    });

    // fault: ten servers add the same nodes at once, few of them and many
    it.each([1, 60])('A4: of ten servers that add the same %i nodes, one does', async (count) => {
      const bench = await open();
      await plant(bench, { a: [] });
      const servers = Array.from({ length: count === 1 ? 10 : 3 }, () => {
        const jobs = Array.from({ length: count }, (_, i) => bench.make({ workflowId: 'flow', node: `n${i}` }));
        return bench.store.insert([{ jobs, workflow: { join: 'flow' } }]);
      });
      const answers = (await Promise.all(servers)).flat().map(({ status }) => status);
      expect(answers.filter((status) => status === 'inserted')).toHaveLength(1);
      expect(answers.filter((status) => status === 'named')).toHaveLength(servers.length - 1);
      expect(await bench.store.workflows.get('', 'flow')).toMatchObject({ total: 1 + count });
      expect(await bench.store.count({ tenant: '', workflowId: 'flow' }, { atMost: 1000 })).toBe(1 + count);
    });

    it('nobody joins a workflow that has ended or never was', async () => {
      const bench = await open();
      await plant(bench, { a: [] });
      await move(bench, 'running', 'completed');
      const jobs = [bench.make({ workflowId: 'flow' })];
      for (const join of ['flow', 'none']) {
        expect(await bench.store.insert([{ jobs, workflow: { join } }])).toEqual([{ status: 'closed' }]);
      }
      expect(await bench.find(jobs[0]!.job)).toBeNull();
      expect(await bench.store.workflows.get('', 'flow')).toMatchObject({ total: 1 });
    });

    // fault: two calls at once
    it('guarantee 8: joining and ending at once: whoever is first', async () => {
      const bench = await open();
      await plant(bench, { a: [] });
      const jobs = [bench.make({ workflowId: 'flow' })];
      const [[joined], ended] = await Promise.all([
        bench.store.insert([{ jobs, workflow: { join: 'flow' } }]),
        move(bench, 'running', 'failed'),
      ]);
      expect(ended).toMatchObject({ status: 'moved' });
      const { total } = (await bench.store.workflows.get('', 'flow'))!;
      expect([joined!.status, total]).toEqual(joined!.status === 'closed' ? ['closed', 1] : ['inserted', 2]);
    });
  });
}
