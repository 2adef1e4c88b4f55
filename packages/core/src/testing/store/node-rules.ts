import { describe, expect, it } from 'vitest';
import type { NodeEnd } from '../../job/node-end.ts';
import { aWorkflow } from '../factories.ts';
import { type Bench, DISCARDED, idsOf, type OpenBench, sortedIds } from './bench.ts';
import { complete, plant } from './graph.ts';

const SKIPPED: NodeEnd = { kind: 'skipped', reason: 'condition_false' };

const end = (what: NodeEnd) => ({ do: 'end', end: what }) as const;

/** What conditions, delays, maps and timeouts of workflows need of a store. */
export function testNodeRules(open: OpenBench): void {
  describe('nodes with rules', () => {
    it('keep what they say beside their jobs', async () => {
      const bench = await open();
      const rules = { when: { parent: 'a', path: 'ok', equals: null }, delayMs: 5, map: { over: { parent: 'a' } } };
      const spec = { args: [], meta: {}, rules };
      const node = await plant(bench, { a: [], b: ['a'] }, { b: { spec } });
      expect((await bench.read(node('b'))).spec).toEqual(spec);
      await complete(bench, node('a'));
      const [met] = await bench.store.workflows.meet({ tenant: '', ids: [node('a').id] });
      expect(met!.spec).toEqual(spec);
    });

    it('a skipped node has completed without a run, and lets its children be looked at', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'], c: ['b'] });
      await complete(bench, node('a'));
      expect(await bench.command(node('b'), end(SKIPPED))).toMatchObject({ status: 'applied' });
      const skipped = { state: 'completed', outcome: 'skipped', run: 0, result: null, finishedAt: bench.now };
      expect(await bench.read(node('b'))).toMatchObject({ ...skipped, advancePending: true });
      expect((await bench.eventsOf(node('b'))).map(({ type }) => type)).toEqual(['job.pending', 'job.skipped']);
      const [family] = await bench.store.workflows.parents({ tenant: '', ids: [node('c').id] });
      const told = { id: node('b').id, node: 'b', state: 'completed', outcome: 'skipped', result: null };
      expect(family).toEqual([{ ...told, finishedAt: bench.now }]);
      expect(idsOf(await bench.advance(node('b')))).toEqual([node('c').id]);
      expect(await bench.store.workflows.hasUnfinished('', 'flow')).toBe(true);
    });

    // fault: ten servers decide about the node at once
    it('guarantee 8: of ten servers that skip a node or start it, one does', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      const row = await bench.read(node('b'));
      const commands = Array.from({ length: 10 }, (_, i) => (i % 2 ? end(SKIPPED) : ({ do: 'activate' } as const)));
      const answers = await Promise.all(
        commands.map((command) => bench.command(row, command).catch(() => ({ status: 'refused' }))),
      );
      expect(answers.filter(({ status }) => status === 'applied')).toHaveLength(1);
      expect(await bench.eventsOf(row)).toHaveLength(2);
    });

    it('a node waits for its delay, and comes up when it is over', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      await complete(bench, node('a'));
      await bench.command(node('b'), { do: 'activate', notBefore: bench.now + 5000 });
      expect(await bench.read(node('b'))).toMatchObject({ state: 'scheduled', scheduledAt: bench.now + 5000 });
      expect(await bench.claim()).toEqual([]);
      await bench.clock.advance(5000);
      await bench.sweep();
      expect(idsOf(await bench.claim())).toEqual([node('b').id]);
    });

    it('a map waits for the jobs that joined as its parents, and ends with their results', async () => {
      const bench = await open();
      const node = await plant(bench, { list: [], map: ['list'], after: ['map'] });
      await complete(bench, node('list'));
      const [free] = await bench.store.workflows.meet({ tenant: '', ids: [node('list').id] });
      expect(free!.id).toBe(node('map').id);
      const jobs = [0, 1, 2].map((place) => bench.make({ workflowId: 'flow', node: `map[${place}]` }));
      const edges = jobs.map(({ job }) => ({ parent: job.id, child: node('map').id }));
      const join = { jobs, edges, workflow: { join: 'flow' } };
      expect(await bench.store.insert([join])).toMatchObject([{ status: 'inserted' }]);
      const again = jobs.map(({ job }) => bench.make({ workflowId: 'flow', node: job.node }));
      expect(await bench.store.insert([{ ...join, jobs: again }])).toMatchObject([{ status: 'named' }]);
      expect(await bench.store.workflows.meet({ tenant: '', ids: [node('list').id] })).toEqual([]);
      for (const { job } of jobs) {
        expect(await bench.advance(job)).toEqual([]);
        await complete(bench, job);
      }
      const met = await bench.store.workflows.meet({ tenant: '', ids: idsOf(jobs.map(({ job }) => job)) });
      expect(idsOf(met)).toEqual([node('map').id]);
      const [family] = await bench.store.workflows.parents({ tenant: '', ids: [node('map').id] });
      expect(family!.map((parent) => parent.node).sort()).toEqual(['list', 'map[0]', 'map[1]', 'map[2]']);
      const results = [{ a: 1 }, null, 'x'];
      await bench.command(node('map'), end({ kind: 'gathered', results }));
      const ended = { state: 'completed', outcome: 'completed', result: results };
      expect(await bench.read(node('map'))).toMatchObject(ended);
      expect(idsOf(await bench.advance(node('map')))).toEqual([node('after').id]);
    });

    it('a node whose rules cannot be followed fails without a run, and is no dead letter', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: ['a'] });
      const error = { code: 'map_no_list', message: 'no', retryable: false };
      await bench.command(node('b'), end({ kind: 'failed', error }));
      const failed = { state: 'discarded', outcome: 'failed', dead: false, errors: [{ ...error, run: 0 }] };
      expect(await bench.read(node('b'))).toMatchObject(failed);
    });
  });

  describe('alarms of workflows', () => {
    const at = async (bench: Bench, id: string, ms: number | null) => {
      const nextAt = ms === null ? null : bench.now + ms;
      const create = aWorkflow({ id, total: 1, timeoutMs: ms, nextAt, skips: ms === 1000 });
      await bench.store.insert([{ jobs: [bench.make({ workflowId: id, node: 'a' })], workflow: { create } }]);
      return (await bench.store.workflows.get('', id))!;
    };
    const due = (bench: Bench, limit = 9) => bench.store.due({ now: bench.now, limit });
    const change = { tenant: '', from: 'running', to: 'running', jobs: [] } as const;

    it('are due by their time, earliest first, at most as many as asked for', async () => {
      const bench = await open();
      const [b, a, later] = [await at(bench, 'b', 2000), await at(bench, 'a', 1000), await at(bench, 'c', 9000)];
      expect(await at(bench, 'never', null)).toMatchObject({
        nextAt: null,
        timeoutMs: null,
        reason: null,
        skips: false,
      });
      expect(a).toMatchObject({ timeoutMs: 1000, nextAt: bench.now + 1000, skips: true });
      expect(await due(bench)).toMatchObject({ workflows: [], nextAt: a.nextAt });
      await bench.clock.advance(2000);
      expect(await due(bench)).toMatchObject({ jobs: [], workflows: [a, b], nextAt: later.nextAt });
      expect(await due(bench, 1)).toMatchObject({ workflows: [a], nextAt: b.nextAt });
    });

    it('stay with a workflow that runs on, and go with its end', async () => {
      const bench = await open();
      const { id, nextAt } = await at(bench, 'flow', 1000);
      await bench.clock.advance(1000);
      const move = bench.store.workflows.move.bind(bench.store.workflows);
      await move({ ...change, id, nextAt, reason: 'timeout', now: bench.now });
      const noted = { state: 'running', nextAt, reason: 'timeout', finishedAt: null, skips: true };
      expect((await due(bench)).workflows).toMatchObject([noted]);
      await move({ ...change, id, to: 'failed', reason: 'timeout', now: bench.now });
      expect(await bench.store.workflows.get('', id)).toMatchObject({
        state: 'failed',
        nextAt: null,
        reason: 'timeout',
      });
      expect(await due(bench)).toMatchObject({ workflows: [], nextAt: null });
      await move({ ...change, id, from: 'failed', nextAt: bench.now + 500, now: bench.now });
      expect(await bench.store.workflows.get('', id)).toMatchObject({ state: 'running', reason: null });
      await bench.clock.advance(500);
      expect((await due(bench)).workflows).toMatchObject([{ id, reason: null }]);
    });

    it('a workflow notes that nodes of it may be skipped, and nothing else changes', async () => {
      const bench = await open();
      const before = await at(bench, 'flow', 5000);
      const { nextAt, reason } = before;
      const noted = await bench.store.workflows.move({
        ...change,
        id: 'flow',
        nextAt,
        reason,
        skips: true,
        now: bench.now,
      });
      expect(noted).toMatchObject({ status: 'moved' });
      expect(await bench.store.workflows.get('', 'flow')).toEqual({ ...before, skips: true });
      const lost = { ...change, from: 'failed', id: 'flow', skips: true, now: bench.now } as const;
      expect(await bench.store.workflows.move(lost)).toEqual({ status: 'lost' });
    });

    // fault: a parent of the node is discarded
    it('sees what kept a node from being met', async () => {
      const bench = await open();
      const node = await plant(bench, { a: [], b: [], c: ['a', 'b'] });
      await complete(bench, node('a'), DISCARDED);
      await bench.command(node('b'), { do: 'cancel' });
      const [family] = await bench.store.workflows.parents({ tenant: '', ids: [node('c').id] });
      expect(family!.map(({ state, outcome }) => [state, outcome])).toEqual([
        ['discarded', 'discarded'],
        ['cancelled', 'cancelled'],
      ]);
      expect(sortedIds(await bench.store.workflows.waiting({ tenant: '', ids: [node('a').id] }))).toEqual([
        node('c').id,
      ]);
    });
  });
}
