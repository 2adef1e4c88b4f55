import { describe, expect, it } from 'vitest';
import { type Bench, COMPLETED, FAILED, type OpenBench } from './bench.ts';

const setLimit = (bench: Bench, concurrency: number | null, tenant = 't') =>
  bench.store.queues.setTenantLimit(tenant, concurrency);

const BOTH = ['q1', 'q2'];

/** Jobs of the tenant `t` in two queues, so many in each. */
async function addToBoth(bench: Bench, count: number): Promise<void> {
  for (const queue of BOTH) await bench.addMany(count, { tenant: 't', queue });
}

const claim = (bench: Bench, { queues = BOTH, limit = 100 } = {}) => bench.claim({ tenant: 't', queues, limit });

export function testTenantLimits(open: OpenBench): void {
  describe('limits of tenants', () => {
    // fault: none, the rule itself
    it('guarantee 7: no more jobs of a tenant are active than it may have, in whichever queue', async () => {
      const bench = await open();
      await setLimit(bench, 3);
      await addToBoth(bench, 2);
      const claimed = await claim(bench);
      expect(claimed.map((job) => job.queue)).toEqual(['q1', 'q1', 'q2']);
      expect(await claim(bench)).toEqual([]);
      await bench.settle(claimed[0]!, COMPLETED);
      expect((await claim(bench)).map((job) => job.queue)).toEqual(['q2']);
      expect(await claim(bench)).toEqual([]);
    });

    it('holds nobody else up', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      await addToBoth(bench, 2);
      await bench.addMany(2, { tenant: 'u', queue: 'q1' });
      expect(await claim(bench)).toHaveLength(1);
      expect(await bench.claim({ tenant: 'u', queues: BOTH })).toHaveLength(2);
    });

    it('frees a place with every way in which a run can end', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      await addToBoth(bench, 6);
      const next = async () => {
        const claimed = await claim(bench);
        expect(claimed).toHaveLength(1);
        expect(await claim(bench)).toEqual([]);
        return claimed[0]!;
      };
      await bench.settle(await next(), FAILED);
      await bench.settle(await next(), { kind: 'requeued' });
      await bench.settle(await next(), { kind: 'snoozed', until: bench.now + 60_000 });
      await bench.command(await next(), { do: 'cancel' });
      await next();
      // The worker is gone: its lease ends.
      await bench.clock.advance(31_000);
      await bench.sweep();
      await next();
    });

    // fault: twenty calls at once
    it('guarantee 7: twenty concurrent claims of two queues take no more than one does', async () => {
      const bench = await open();
      await setLimit(bench, 3);
      await addToBoth(bench, 15);
      const some = (index: number) => claim(bench, { queues: [BOTH[index % 2]!], limit: 2 });
      const claimed = (await Promise.all(Array.from({ length: 20 }, (_, index) => some(index)))).flat();
      expect(claimed.length).toBeLessThanOrEqual(3);
      // A store that lets nobody through when several race must let the next one through.
      claimed.push(...(await claim(bench)));
      expect(claimed).toHaveLength(3);
      await bench.settle(claimed[0]!, COMPLETED);
      const requests = BOTH.map((queue) => bench.request({ tenant: 't', queues: [queue], limit: 2 }));
      expect((await bench.store.claim(requests)).flat()).toHaveLength(1);
    });

    // fault: hints arrive for jobs that may not run yet
    it('guarantee 7: hinted jobs of a full tenant are parked', async () => {
      const bench = await open();
      await setLimit(bench, 2);
      const [a, c] = await bench.addMany(2, { tenant: 't', queue: 'q1' });
      const [b] = await bench.addMany(1, { tenant: 't', queue: 'q2' });
      const byId = (...ids: string[]) => bench.store.claimById(bench.requestById(ids, { tenant: 't' }));
      const answers = await byId(a!.id, b!.id, c!.id);
      expect(answers.map(({ status }) => status)).toEqual(['claimed', 'claimed', 'parked']);
      const [first] = answers;
      if (first?.status === 'claimed') await bench.settle(first.job, COMPLETED);
      expect(await byId(c!.id)).toMatchObject([{ status: 'claimed' }]);
    });

    // fault: the same call is made again, while the tenant is full
    it('guarantee 10: a repeated claim answers what it holds though the tenant is full', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      await addToBoth(bench, 1);
      const request = bench.request({ tenant: 't', queues: BOTH });
      const first = await bench.store.claim([request]);
      expect(first[0]).toHaveLength(1);
      expect(await bench.store.claim([request])).toEqual(first);
    });

    it('set while jobs run, it counts them; raised, lowered and taken away, it holds from the next claim on', async () => {
      const bench = await open();
      await addToBoth(bench, 6);
      const running = await claim(bench, { limit: 3 });
      await setLimit(bench, 2);
      expect(await claim(bench)).toEqual([]);
      await setLimit(bench, 4);
      expect(await claim(bench)).toHaveLength(1);
      await setLimit(bench, 1);
      for (const job of running) await bench.settle(job, COMPLETED);
      expect(await claim(bench)).toEqual([]);
      await setLimit(bench, null);
      expect(await claim(bench)).toHaveLength(8);
      // The runs that began meanwhile count for the next one.
      await setLimit(bench, 9);
      await addToBoth(bench, 1);
      expect(await claim(bench)).toEqual([]);
      await setLimit(bench, 10);
      expect(await claim(bench)).toHaveLength(1);
    });

    it('stands beside the limits of the queue and of the jobs themselves', async () => {
      const bench = await open();
      await setLimit(bench, 3);
      await bench.store.queues.setLimit('t', 'q1', { concurrency: 2, rate: null });
      await bench.limit({ concurrency: 1 }, { tenant: 't' });
      await bench.addMany(2, { tenant: 't', queue: 'q1', limitKey: 'k', priority: 9 });
      await addToBoth(bench, 3);
      const claimed = await claim(bench);
      expect(claimed.map(({ queue, limitKey }) => [queue, limitKey])).toEqual([
        ['q1', 'k'],
        ['q1', null],
        ['q2', null],
      ]);
    });

    it('wakes those who wait for another queue of the tenant, by an end and by a new limit', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      await bench.add({ tenant: 't', queue: 'q1' });
      const [first] = await claim(bench);
      await bench.addMany(2, { tenant: 't', queue: 'q2' });
      const woken = (change: () => Promise<unknown>): Promise<unknown> => {
        const told = new Promise<void>((resolve) => {
          const stop = bench.store.onWake((queues) => {
            if (queues && !queues.includes('q2')) return;
            stop();
            resolve();
          });
        });
        return Promise.all([told, change()]);
      };
      await woken(() => bench.settle(first!, COMPLETED));
      expect(await claim(bench)).toHaveLength(1);
      await woken(() => setLimit(bench, 2));
      expect(await claim(bench)).toHaveLength(1);
    });

    it('stays when everything else of the tenant was pruned', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      await bench.settle(await bench.start({ tenant: 't', queue: 'q1' }), COMPLETED);
      await bench.clock.advance(3 * 86_400_000);
      const before = bench.now - 1;
      const old = { finishedBefore: before, deadBefore: before, eventsBefore: before, unusedBefore: before };
      for (let more = true; more; ) ({ more } = await bench.store.prune({ ...old, limit: 100 }));
      await addToBoth(bench, 2);
      expect(await claim(bench)).toHaveLength(1);
    });
  });

  describe('tenants', () => {
    it('are listed when they have a queue, in order and page by page', async () => {
      const bench = await open();
      const names = (after: string | null, limit = 10) => bench.store.queues.tenants({ after, limit });
      expect(await names(null)).toEqual([]);
      for (const tenant of ['b', '', 'a', 'B']) await bench.addMany(2, { tenant, queue: `q-${tenant.toLowerCase()}` });
      await bench.add({ tenant: 'a', queue: 'another' });
      expect(await names(null)).toEqual(['', 'B', 'a', 'b']);
      expect(await names(null, 3)).toEqual(['', 'B', 'a']);
      expect(await names('')).toEqual(['B', 'a', 'b']);
      expect(await names('a')).toEqual(['b']);
      expect(await names('b')).toEqual([]);
    });
  });
}
