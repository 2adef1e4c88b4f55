import { describe, expect, it } from 'vitest';
import { type Bench, COMPLETED, type OpenBench } from './bench.ts';

/** Resolves when the store tells of a queue, or of any; the test's own timeout is the only other end. */
function woken(bench: Bench, queue: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = bench.store.onWake((queues) => {
      if (queues && !queues.includes(queue)) return;
      stop();
      resolve();
    });
  });
}

export function testWake(open: OpenBench): void {
  describe('onWake', () => {
    it('tells of an inserted job', async () => {
      const bench = await open();
      const told = woken(bench, 'q');
      await bench.add({ queue: 'q' });
      await told;
    });

    it('tells of a job that became available by a change', async () => {
      const bench = await open();
      const job = await bench.add({ queue: 'q', state: 'pending' });
      const told = woken(bench, 'q');
      await bench.command(job, { do: 'activate' });
      await told;
    });

    it('tells of a parked job that was admitted, by an end or by a new limit', async () => {
      const bench = await open();
      await bench.limit({ concurrency: 1 });
      const first = await bench.start({ queue: 'q1', limitKey: 'k' });
      await bench.add({ queue: 'q2', limitKey: 'k' });
      await bench.add({ queue: 'q3', limitKey: 'k' });
      const byEnd = woken(bench, 'q2');
      await bench.settle(first, COMPLETED);
      await byEnd;
      const byLimit = woken(bench, 'q3');
      await bench.limit({ concurrency: 2 });
      await byLimit;
    });

    it('tells of a dispatched child', async () => {
      const bench = await open();
      const parent = bench.make({ workflowId: 'f', node: 'a' });
      const child = bench.make({ workflowId: 'f', node: 'b', state: 'pending', queue: 'q' });
      await bench.store.insert([{ jobs: [parent, child], edges: [{ parent: parent.job.id, child: child.job.id }] }]);
      const [claimed] = await bench.claim();
      await bench.settle(claimed!, COMPLETED);
      const told = woken(bench, 'q');
      await bench.advance(parent.job);
      await told;
    });

    it('tells of a queue that was resumed with jobs in it', async () => {
      const bench = await open();
      await bench.store.queues.setPaused('', 'q', true);
      await bench.add({ queue: 'q' });
      const told = woken(bench, 'q');
      await bench.store.queues.setPaused('', 'q', false);
      await told;
    });

    it('tells of room in a limited queue, by an end or by a new limit', async () => {
      const bench = await open();
      await bench.store.queues.setLimit('', 'q', { concurrency: 1, rate: null });
      const first = await bench.start({ queue: 'q' });
      await bench.addMany(2, { queue: 'q' });
      const byEnd = woken(bench, 'q');
      await bench.settle(first, COMPLETED);
      await byEnd;
      const byLimit = woken(bench, 'q');
      await bench.store.queues.setLimit('', 'q', null);
      await byLimit;
    });

    it('tells nobody who has unsubscribed', async () => {
      const bench = await open();
      let calls = 0;
      const stop = bench.store.onWake(() => void calls++);
      stop();
      const told = woken(bench, 'q');
      await bench.add({ queue: 'q' });
      await told;
      expect(calls).toBe(0);
    });
  });
}
