import { describe, expect, it } from 'vitest';
import { type Bench, COMPLETED, idsOf, type OpenBench } from './bench.ts';

const listed = async (bench: Bench, tenant = '') =>
  (await bench.store.queues.list(tenant)).toSorted((a, b) => (a.name < b.name ? -1 : 1));

export function testQueues(open: OpenBench): void {
  describe('queues', () => {
    it('a queue exists once it has had a job or was paused', async () => {
      const bench = await open();
      expect(await listed(bench)).toEqual([]);
      await bench.add({ queue: 'b' });
      await bench.add({ queue: 'b' });
      await bench.store.queues.setPaused('', 'a', true);
      expect(await listed(bench)).toEqual([
        { tenant: '', name: 'a', paused: true },
        { tenant: '', name: 'b', paused: false },
      ]);
    });

    it('a queue paused before its first job stays paused', async () => {
      const bench = await open();
      await bench.store.queues.setPaused('', 'default', true);
      await bench.add();
      expect(await listed(bench)).toEqual([{ tenant: '', name: 'default', paused: true }]);
      expect(await bench.claim()).toEqual([]);
    });

    it('a paused queue takes jobs and gives none; resumed, it gives them in order', async () => {
      const bench = await open();
      const first = await bench.add();
      expect(await bench.store.queues.setPaused('', 'default', true)).toMatchObject({ paused: true });
      const second = await bench.add();
      const other = await bench.add({ queue: 'other' });
      expect(idsOf(await bench.claim({ queues: ['default', 'other'] }))).toEqual([other.id]);
      expect(await bench.store.queues.setPaused('', 'default', false)).toMatchObject({ paused: false });
      expect((await bench.claim()).map((job) => job.id).sort()).toEqual([first.id, second.id]);
    });

    it('pausing and resuming twice is like once', async () => {
      const bench = await open();
      for (const paused of [true, true, false, false]) {
        expect(await bench.store.queues.setPaused('', 'a', paused)).toEqual({ tenant: '', name: 'a', paused });
        expect(await listed(bench)).toEqual([{ tenant: '', name: 'a', paused }]);
      }
    });

    it('running jobs of a paused queue go on', async () => {
      const bench = await open();
      const claimed = await bench.start();
      await bench.store.queues.setPaused('', 'default', true);
      const beat = { tenant: '', id: claimed.id, by: 'anyone', leaseMs: null, now: bench.now } as const;
      expect(await bench.store.extend([beat])).toMatchObject([{ status: 'extended' }]);
      expect(await bench.settle(claimed, COMPLETED)).toMatchObject({ status: 'applied' });
    });

    it('guarantee 10: a repeated claim answers what it holds though the queue was paused since', async () => {
      const bench = await open();
      await bench.add();
      const request = bench.request();
      const first = await bench.store.claim([request]);
      await bench.store.queues.setPaused('', 'default', true);
      expect(await bench.store.claim([request])).toEqual(first);
    });
  });
}
