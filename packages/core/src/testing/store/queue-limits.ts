import { describe, expect, it } from 'vitest';
import { type Bench, COMPLETED, idsOf, type OpenBench } from './bench.ts';

const setLimit = (bench: Bench, concurrency: number | null, rate: { limit: number; periodMs: number } | null = null) =>
  bench.store.queues.setLimit('', 'default', { concurrency, rate });

const RATE = { limit: 2, periodMs: 1000 };

export function testQueueLimits(open: OpenBench): void {
  describe('queue limits', () => {
    it('are told with the queue, make it known and can be taken away', async () => {
      const bench = await open();
      const limit = { concurrency: 3, rate: RATE };
      const queue = { tenant: '', name: 'q', paused: false, keep: 'all', limit };
      expect(await bench.store.queues.setLimit('', 'q', limit)).toEqual(queue);
      expect(await bench.store.queues.list('')).toEqual([queue]);
      expect(await bench.store.queues.stats('', 'q', { atMost: 9 })).toMatchObject(queue);
      expect(await bench.store.queues.setPaused('', 'q', true)).toEqual({ ...queue, paused: true });
      expect(await bench.store.queues.setLimit('', 'q', null)).toEqual({
        ...queue,
        paused: true,
        keep: 'all',
        limit: null,
      });
    });

    // fault: none, the rule itself
    it('guarantee 7: a claim takes no more than may be active, and others go on with what is left', async () => {
      const bench = await open();
      await bench.addMany(5);
      const other = await bench.add({ queue: 'other' });
      await setLimit(bench, 2);
      const claimed = await bench.claim({ queues: ['default', 'other'] });
      expect(claimed.map((job) => job.queue)).toEqual(['default', 'default', 'other']);
      expect(claimed[2]!.id).toBe(other.id);
      expect(await bench.claim()).toEqual([]);
      await bench.settle(claimed[0]!, COMPLETED);
      expect(await bench.claim()).toHaveLength(1);
    });

    // fault: none, the rule itself
    it('guarantee 7: no stretch of a period has more starts than allowed', async () => {
      const bench = await open();
      await setLimit(bench, null, RATE);
      await bench.addMany(12);
      const starts: number[] = [];
      for (let round = 0; starts.length < 12; round++) {
        expect(round).toBeLessThan(200);
        const claimed = await bench.claim();
        starts.push(...claimed.map(() => bench.now));
        for (const job of claimed) await bench.settle(job, COMPLETED);
        expect(starts.filter((at) => at > bench.now - RATE.periodMs).length).toBeLessThanOrEqual(RATE.limit);
        await bench.clock.advance([130, 70, 410][round % 3]!);
      }
    });

    // fault: twenty calls at once
    it('guarantee 7: twenty concurrent claims take no more than one does', async () => {
      const bench = await open();
      await setLimit(bench, 3);
      await bench.addMany(30);
      const claimed = (await Promise.all(Array.from({ length: 20 }, () => bench.claim({ limit: 2 })))).flat();
      expect(claimed).toHaveLength(3);
      const requests = Array.from({ length: 5 }, () => bench.request({ limit: 2 }));
      await bench.settle(claimed[0]!, COMPLETED);
      expect((await bench.store.claim(requests)).flat()).toHaveLength(1);
    });

    // fault: a hint arrives for a job that may not run yet
    it('guarantee 7: a hinted job of a full queue is parked', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      const [a, b, c] = await bench.addMany(3);
      const claim = (...ids: string[]) => bench.store.claimById(bench.requestById(ids));
      const [first, second] = await claim(a!.id, b!.id);
      expect([first!.status, second!.status]).toEqual(['claimed', 'parked']);
      if (first?.status === 'claimed') await bench.settle(first.job, COMPLETED);
      expect(await claim(c!.id)).toMatchObject([{ status: 'claimed' }]);
    });

    // fault: the same call is made again, while the queue is full
    it('guarantee 10: a repeated claim answers what it holds though the queue is full', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      await bench.addMany(3);
      const request = bench.request();
      const first = await bench.store.claim([request]);
      expect(first[0]).toHaveLength(1);
      expect(await bench.store.claim([request])).toEqual(first);
    });

    it('set while jobs run, it counts them; raised and taken away, it holds from the next claim on', async () => {
      const bench = await open();
      await bench.addMany(9);
      expect(await bench.claim({ limit: 3 })).toHaveLength(3);
      await setLimit(bench, 2);
      expect(await bench.claim()).toEqual([]);
      await setLimit(bench, 4);
      expect(await bench.claim()).toHaveLength(1);
      await bench.store.queues.setLimit('', 'default', null);
      expect(await bench.claim()).toHaveLength(5);
    });

    it('says when its rate lets go of a start that a ready job waits for', async (context) => {
      const bench = await open();
      const { store } = bench;
      if (!store.opensAt) return context.skip('this store leaves waiting claims to their safety net');
      const opensAt = () => store.opensAt!({ tenant: '', queues: ['none', 'default'], now: bench.now });
      expect(await opensAt()).toBeNull();
      await setLimit(bench, null, RATE);
      await bench.addMany(3);
      expect(await opensAt()).toBeNull();
      const claimed = await bench.claim();
      expect(claimed).toHaveLength(2);
      const at = (await opensAt())!;
      expect(at).toBeGreaterThan(bench.now);
      expect(at).toBeLessThanOrEqual(bench.now + RATE.periodMs * 1.1);
      await store.queues.setPaused('', 'default', true);
      expect(await opensAt()).toBeNull();
      await store.queues.setPaused('', 'default', false);
      await bench.clock.advance(at - bench.now - 1);
      expect(await bench.claim()).toEqual([]);
      await bench.clock.advance(1);
      expect(await bench.claim()).toHaveLength(1);
      // Nobody waits any more.
      expect(await opensAt()).toBeNull();
    });

    it('stands beside the limits of the jobs themselves', async () => {
      const bench = await open();
      await setLimit(bench, 2);
      await bench.limit({ concurrency: 1 });
      const limited = await bench.addMany(2, { limitKey: 'k', priority: 9 });
      const free = await bench.addMany(2);
      expect(idsOf(await bench.claim())).toEqual([limited[0]!.id, free[0]!.id]);
    });
  });
}
