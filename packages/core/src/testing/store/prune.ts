import { describe, expect, it } from 'vitest';
import { isFinished, JOB_STATES } from '../../job/job.ts';
import type { PruneRequest } from '../../store/prune.ts';
import { type Bench, COMPLETED, DEAD, DISCARDED, idsOf, type OpenBench, plainEvent, sortedIds } from './bench.ts';
import { complete, plant } from './graph.ts';

const NEVER = 0;

async function prune(bench: Bench, request: Partial<PruneRequest>) {
  return bench.store.prune({ finishedBefore: NEVER, deadBefore: NEVER, eventsBefore: NEVER, limit: 100, ...request });
}

async function finish(bench: Bench, count: number) {
  const jobs = await Promise.all(Array.from({ length: count }, () => bench.start()));
  for (const job of jobs) await bench.settle(job, COMPLETED);
  return jobs;
}

/** A store that removes what is old in its own time has tests of its own for that. */
const exactly = async (open: OpenBench, skip: (note: string) => void): Promise<Bench> => {
  const bench = await open();
  if (bench.store.capabilities.prunesItself) skip('the store removes what is old in its own time');
  return bench;
};

export function testPrune(open: OpenBench): void {
  describe('prune', () => {
    // fault: everything is older than the retention
    it('guarantee 1: never removes a job that still lives, however old', async ({ skip }) => {
      const bench = await exactly(open, skip);
      const jobs = await bench.oneInEachState();
      const parked = await bench.addParked();
      await bench.outlive();
      const later = bench.now + 1e9;
      const all = { finishedBefore: later, deadBefore: later, eventsBefore: later };
      expect(await prune(bench, all)).toMatchObject({ jobs: 3, more: false });
      const left = JOB_STATES.filter((state) => !isFinished(state)).map((state) => jobs[state]);
      const { items } = await bench.store.list({ filter: { tenant: '' }, limit: 100 });
      const found = items.filter((job) => job.queue !== 'elsewhere');
      expect(sortedIds(found)).toEqual(sortedIds([...left, parked]));
      expect(await bench.log()).toEqual([]);
    });

    it('removes what ended before the given time and keeps the rest', async ({ skip }) => {
      const bench = await exactly(open, skip);
      const [old] = await finish(bench, 1);
      await bench.outlive();
      const [young] = await finish(bench, 1);
      expect(await prune(bench, { finishedBefore: young!.createdAt })).toEqual({ jobs: 1, events: 0, more: false });
      expect(await bench.find(old!)).toBeNull();
      expect(await bench.find(young!)).not.toBeNull();
    });

    it('keeps dead letters by a time of their own', async ({ skip }) => {
      const bench = await exactly(open, skip);
      const dead = await bench.start();
      await bench.settle(dead, DEAD);
      await finish(bench, 1);
      await bench.outlive();
      expect(await prune(bench, { finishedBefore: bench.now })).toMatchObject({ jobs: 1, more: false });
      expect(await bench.find(dead)).not.toBeNull();
      expect(await prune(bench, { deadBefore: bench.now })).toMatchObject({ jobs: 1, more: false });
      expect(await bench.find(dead)).toBeNull();
    });

    it('D2: a dead letter whose job has a retention of its own is kept until then, whatever the engine says', async () => {
      const bench = await open();
      const spec = { args: [], meta: {}, options: { dead_letter_retention_ms: 5_000 } };
      const [claimed, limited] = [await bench.start({ spec }), await bench.start({ spec, limitKey: 'k' })];
      for (const job of [claimed, limited]) {
        await bench.settle(job, DEAD);
        expect(await bench.read(job)).toMatchObject({ state: 'discarded', dead: true, nextAt: bench.now + 5_000 });
      }
      const filter = { tenant: '', dead: true };
      expect(sortedIds((await bench.store.list({ filter, limit: 9 })).items)).toEqual(sortedIds([claimed, limited]));
      expect(await bench.store.count(filter, { atMost: 9 })).toBe(2);
      const later = bench.now + 1e9;
      if (!bench.store.capabilities.prunesItself) {
        expect(await prune(bench, { finishedBefore: later, deadBefore: later })).toMatchObject({
          jobs: 0,
          more: false,
        });
      }
      expect((await bench.store.due({ now: bench.now + 4_999, limit: 9 })).jobs).toEqual([]);
      await bench.clock.advance(5_000);
      expect(sortedIds((await bench.store.due({ now: bench.now, limit: 9 })).jobs)).toEqual(
        sortedIds([claimed, limited]),
      );
      for (const job of [claimed, limited]) {
        await bench.command(job, { do: 'tick' });
        expect(await bench.read(job)).toMatchObject({ state: 'discarded', dead: false, nextAt: null });
      }
      expect(await bench.store.count(filter, { atMost: 9 })).toBe(0);
      expect(await bench.store.queues.stats('', 'default', { atMost: 9 })).toMatchObject({ discarded: 2 });
    });

    it('D2: a dead letter with a retention of its own can be run again', async () => {
      const bench = await open();
      const claimed = await bench.start({
        spec: { args: [], meta: {}, options: { dead_letter_retention_ms: 5_000 } },
      });
      await bench.settle(claimed, DEAD);
      await bench.command(claimed, { do: 'replay' });
      expect(await bench.read(claimed)).toMatchObject({ state: 'available', dead: false, nextAt: null });
      const [again] = await bench.claim();
      await bench.settle(again!, COMPLETED);
      expect(await bench.read(claimed)).toMatchObject({ state: 'completed', run: 2, nextAt: null });
    });

    it('removes no more than the limit at once and says when more is left', async ({ skip }) => {
      const bench = await exactly(open, skip);
      await finish(bench, 5);
      await bench.outlive();
      const removed = { jobs: 0, events: 0 };
      for (let calls = 0; ; calls++) {
        expect(calls).toBeLessThan(30);
        const answer = await prune(bench, { finishedBefore: bench.now, eventsBefore: bench.now, limit: 2 });
        // A store that keeps jobs longer does so to drop them as a whole.
        if (bench.store.capabilities.pruneLagMs === 0) expect(answer.jobs).toBeLessThanOrEqual(2);
        expect(answer.events).toBeLessThanOrEqual(2);
        removed.jobs += answer.jobs;
        removed.events += answer.events;
        if (!answer.more) break;
      }
      expect(removed).toEqual({ jobs: 5, events: 15 });
    });

    it('removes old events and leaves readers where they were', async ({ skip }) => {
      const bench = await exactly(open, skip);
      const job = await bench.add();
      const cursor = await bench.store.events.end();
      await bench.clock.advance(1000);
      await bench.claim();
      expect(await prune(bench, { eventsBefore: bench.now })).toEqual({ jobs: 0, events: 1, more: false });
      const started = await bench.log({ jobIds: [job.id] });
      expect(started.map((event) => event.type)).toEqual(['job.started']);
      expect((await bench.log({}, { after: cursor })).map(plainEvent)).toEqual(started.map(plainEvent));
      await prune(bench, { eventsBefore: bench.now + 1 });
      expect(await bench.log({}, { after: cursor })).toEqual([]);
      const before = await bench.store.events.end();
      await bench.add();
      expect(await bench.log({}, { after: before })).toHaveLength(1);
    });

    // fault: the clock of a server is a year ahead for a moment
    it('removes old events behind one whose time has not come', async ({ skip }) => {
      const bench = await exactly(open, skip);
      const year = 365 * 86_400_000;
      bench.clock.jump(year);
      await bench.add();
      bench.clock.jump(-year);
      const old = await bench.add();
      await bench.clock.advance(1000);
      const young = await bench.add();
      expect(await prune(bench, { eventsBefore: bench.now })).toMatchObject({ more: false });
      expect(await bench.log({ jobIds: [old.id] })).toEqual([]);
      expect(await bench.log({ jobIds: [young.id] })).toHaveLength(1);
    });

    // fault: the parent is older than the retention before its children were looked at
    it('guarantee 8: keeps a finished node whose dependents nobody has looked at', async ({ skip }) => {
      const bench = await exactly(open, skip);
      const parent = bench.make({ workflowId: 'flow', node: 'a' });
      const child = bench.make({ workflowId: 'flow', node: 'b', state: 'pending' });
      await bench.store.insert([{ jobs: [parent, child], edges: [{ parent: parent.job.id, child: child.job.id }] }]);
      const [claimed] = await bench.claim();
      await bench.settle(claimed!, COMPLETED);
      await bench.outlive();
      expect(await prune(bench, { finishedBefore: bench.now })).toMatchObject({ jobs: 0, more: false });
      await bench.advance(parent.job);
      expect(await prune(bench, { finishedBefore: bench.now })).toMatchObject({ jobs: 1, more: false });
      expect(idsOf(await bench.claim())).toEqual([child.job.id]);
    });

    // fault: a parent that was cancelled is removed
    it('guarantee 8: removing a parent that failed does not start its child', async ({ skip }) => {
      const bench = await exactly(open, skip);
      const [bad, good] = [bench.make({ workflowId: 'f', node: 'a' }), bench.make({ workflowId: 'f', node: 'b' })];
      const child = bench.make({ workflowId: 'f', node: 'c', state: 'pending' });
      const edges = [bad, good].map(({ job }) => ({ parent: job.id, child: child.job.id }));
      await bench.store.insert([{ jobs: [bad, good, child], edges }]);
      const claimed = await bench.claim();
      await bench.command(bad.job, { do: 'cancel' });
      await bench.advance(bad.job);
      await bench.outlive();
      expect(await prune(bench, { finishedBefore: bench.now })).toMatchObject({ jobs: 1 });
      await bench.settle(claimed.find(({ id }) => id === good.job.id)!, COMPLETED);
      expect(await bench.advance(good.job)).toEqual([]);
      expect((await bench.read(child.job)).state).toBe('pending');
    });

    // fault: nodes that have finished are older than the retention, and their workflow still runs
    it('A2: nodes live as long as their workflow, and then as long as its retention says', async ({ skip }) => {
      const bench = await exactly(open, skip);
      const node = await plant(bench, { a: [], b: [], c: [], d: ['a', 'b', 'c'] });
      await complete(bench, node('a'));
      await complete(bench, node('b'), DISCARDED);
      await complete(bench, node('c'), DEAD);
      await bench.advance(...['a', 'b', 'c'].map(node));
      const all = () => ({ finishedBefore: bench.now, deadBefore: bench.now });
      await bench.outlive();
      expect(await prune(bench, all())).toMatchObject({ jobs: 0, more: false });
      const [parents] = await bench.store.workflows.parents({ tenant: '', ids: [node('d').id] });
      expect(parents!.map(({ state }) => state)).toEqual(['completed', 'discarded', 'discarded']);
      await bench.command(node('d'), { do: 'cancel' });
      await bench.advance(node('d'));
      await bench.outlive();
      await bench.store.workflows.move({
        tenant: '',
        id: 'flow',
        from: 'running',
        to: 'failed',
        now: bench.now,
        jobs: [],
      });
      expect(await prune(bench, all())).toMatchObject({ jobs: 0, more: false });
      await bench.outlive();
      expect(await prune(bench, { finishedBefore: bench.now })).toMatchObject({ jobs: 3, more: false });
      expect(await bench.find(node('c'))).not.toBeNull();
      expect(await prune(bench, all())).toMatchObject({ jobs: 1, more: false });
      expect(await bench.find(node('c'))).toBeNull();
    });

    it('frees the idempotency key of a job it removed, and keeps the queue', async ({ skip }) => {
      const bench = await exactly(open, skip);
      const job = await bench.start({ idempotencyKey: 'order-1', queue: 'orders' });
      await bench.settle(job, COMPLETED);
      await bench.outlive();
      await prune(bench, { finishedBefore: bench.now });
      expect(await bench.store.queues.list('')).toEqual([
        { tenant: '', name: 'orders', paused: false, keep: 'all', limit: null },
      ]);
      expect((await bench.add({ idempotencyKey: 'order-1' })).idempotencyKey).toBe('order-1');
    });
  });
}
