import { describe, expect, it } from 'vitest';
import { versionChange } from '../changes.ts';
import { type Bench, COMPLETED, FAILED, idsOf, type OpenBench } from './bench.ts';

const setLimit = (bench: Bench, concurrency: number, key = 'k') =>
  bench.store.limits.set({ tenant: '', key, concurrency });

const holders = async (bench: Bench, key = 'k') => (await bench.store.limits.get('', key))!.holders;

export function testLimits(open: OpenBench): void {
  describe('limits', () => {
    it('tells settings and holders; null for a limit that was never set', async () => {
      const bench = await open();
      expect(await bench.store.limits.get('', 'k')).toBeNull();
      expect(await setLimit(bench, 2)).toEqual({ admitted: 0 });
      await bench.addMany(3, { limitKey: 'k' });
      expect(await bench.store.limits.get('', 'k')).toEqual({ tenant: '', key: 'k', concurrency: 2, holders: 2 });
    });

    it('guarantee 7: insert admits in its own step as many as fit and parks the rest', async () => {
      const bench = await open();
      await setLimit(bench, 2);
      const jobs = Array.from({ length: 4 }, () => bench.make({ limitKey: 'k' }));
      const [answer] = await bench.store.insert([{ jobs }]);
      const rows = answer!.status === 'inserted' ? answer!.jobs : [];
      expect(rows.map((job) => job.holdsSlot)).toEqual([true, true, false, false]);
      expect(rows.map((job) => job.rank !== null)).toEqual([true, true, false, false]);
      expect(await Promise.all(rows.map((job) => bench.read(job)))).toEqual(rows);
      expect(idsOf(await bench.claim())).toEqual(idsOf(rows.slice(0, 2)));
      expect(await bench.claim()).toEqual([]);
    });

    it('jobs of a limit that was never set stay parked until it is', async () => {
      const bench = await open();
      const jobs = await bench.addMany(3, { limitKey: 'k' });
      expect(await bench.claim()).toEqual([]);
      expect(await setLimit(bench, 2)).toEqual({ admitted: 2 });
      expect(idsOf(await bench.claim())).toEqual(idsOf(jobs.slice(0, 2)));
    });

    it('only a job that is available takes a slot', async () => {
      const bench = await open();
      await setLimit(bench, 5);
      const scheduled = await bench.add({ limitKey: 'k', scheduledAt: bench.now + 1000 });
      const pending = await bench.add({ limitKey: 'k', state: 'pending' });
      expect(await holders(bench)).toBe(0);
      await bench.clock.advance(1000);
      await bench.sweep();
      await bench.command(pending, { do: 'activate' });
      expect(await holders(bench)).toBe(2);
      expect(idsOf(await bench.claim()).sort()).toEqual([scheduled.id, pending.id].sort());
    });

    it('guarantee 7: an end gives the slot to exactly one, the first in line', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      const jobs = await bench.insert(
        bench.make({ limitKey: 'k', seq: 1 }),
        bench.make({ limitKey: 'k', seq: 30, priority: 9 }),
        bench.make({ limitKey: 'k', seq: 20 }),
      );
      const [first] = await bench.claim();
      const answer = await bench.settle(first!, COMPLETED);
      const next = await bench.read(jobs[2]!);
      expect(answer).toEqual({ status: 'applied', repeated: false, admitted: [next] });
      expect(next).toMatchObject({ holdsSlot: true, version: 1 });
      expect(await bench.settle(first!, COMPLETED)).toEqual({ status: 'applied', repeated: true, admitted: [] });
      expect(await holders(bench)).toBe(1);
      expect(idsOf(await bench.claim())).toEqual([jobs[2]!.id]);
    });

    it('a retry gives the slot back while it waits, and stands in line again when it is due', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      const [a, b] = await bench.addMany(2, { limitKey: 'k' });
      const [running] = await bench.claim();
      expect(await bench.settle(running!, FAILED)).toMatchObject({ admitted: [{ id: b!.id }] });
      const [second] = await bench.claim();
      await bench.clock.advance(10_000);
      const { jobs } = await bench.store.due({ now: bench.now, limit: 10 });
      const promote = versionChange(jobs[0]!, { do: 'tick' }, bench.now)!;
      expect(await bench.store.apply([promote])).toEqual([{ status: 'applied', repeated: false, admitted: [] }]);
      expect(await bench.read(a!)).toMatchObject({ state: 'available', rank: null, holdsSlot: false });
      expect(await bench.settle(second!, COMPLETED)).toMatchObject({ admitted: [{ id: a!.id }] });
      expect(idsOf(await bench.claim())).toEqual([a!.id]);
    });

    it('a request that finds a free slot is admitted with the change', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      const job = await bench.add({ limitKey: 'k', state: 'pending' });
      const answer = await bench.command(job, { do: 'activate' });
      const row = await bench.read(job);
      expect(row).toMatchObject({ state: 'available', holdsSlot: true, version: 2 });
      expect(row.rank).not.toBeNull();
      expect(answer).toEqual({ status: 'applied', repeated: false, admitted: [row] });
    });

    it('a run that is handed back or whose lease ran out keeps its slot', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      const [a] = await bench.addMany(2, { limitKey: 'k' });
      const [running] = await bench.claim();
      expect(await bench.settle(running!, { kind: 'requeued' })).toMatchObject({ admitted: [] });
      expect(idsOf(await bench.claim())).toEqual([a!.id]);
      await bench.clock.advance(30_000);
      await bench.sweep();
      expect(await holders(bench)).toBe(1);
      expect(idsOf(await bench.claim())).toEqual([a!.id]);
    });

    it('guarantee 7: a parked job that ends frees no slot', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      const [, parked] = await bench.addMany(3, { limitKey: 'k' });
      expect(await bench.command(parked!, { do: 'cancel' })).toMatchObject({ status: 'applied', admitted: [] });
      expect(await holders(bench)).toBe(1);
      expect(await bench.claim()).toHaveLength(1);
    });

    it.each(['told', 'not told'])('a job admitted after it was read gives its slot back, %s to', async (told) => {
      const bench = await open();
      await setLimit(bench, 1);
      const [, second, third] = await bench.addMany(3, { limitKey: 'k' });
      const parked = await bench.read(second!);
      const [running] = await bench.claim();
      await bench.settle(running!, COMPLETED);
      const { slot, ...change } = versionChange(parked, { do: 'cancel' }, bench.now)!;
      // A caller that saw a parked job has no slot to give back, and may say nothing about it.
      const cancel = told === 'told' ? { ...change, slot: slot! } : change;
      expect(await bench.store.apply([cancel])).toMatchObject([{ status: 'applied', admitted: [{ id: third!.id }] }]);
      expect(await holders(bench)).toBe(1);
      expect(idsOf(await bench.claim())).toEqual([third!.id]);
    });

    it('a job that ends while it holds a slot without running gives it back', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      await bench.add({ limitKey: 'k', expiresAt: bench.now + 1000 });
      const next = await bench.add({ limitKey: 'k' });
      await bench.clock.advance(1000);
      await bench.sweep();
      expect(idsOf(await bench.claim())).toEqual([next.id]);
      expect(await holders(bench)).toBe(1);
    });

    it('raising a limit admits as many as now fit, lowering it takes no slot away', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      const jobs = await bench.addMany(5, { limitKey: 'k' });
      expect(await setLimit(bench, 3)).toEqual({ admitted: 2 });
      const running = await bench.claim();
      expect(idsOf(running)).toEqual(idsOf(jobs.slice(0, 3)));
      expect(await setLimit(bench, 1)).toEqual({ admitted: 0 });
      expect(await holders(bench)).toBe(3);
      expect(await bench.settle(running[0]!, COMPLETED)).toMatchObject({ admitted: [] });
      expect(await bench.settle(running[1]!, COMPLETED)).toMatchObject({ admitted: [] });
      expect(await bench.settle(running[2]!, COMPLETED)).toMatchObject({ admitted: [{ id: jobs[3]!.id }] });
    });

    it('keys do not share slots', async () => {
      const bench = await open();
      await setLimit(bench, 1, 'a');
      await setLimit(bench, 1, 'b');
      await bench.addMany(2, { limitKey: 'a' });
      await bench.addMany(2, { limitKey: 'b' });
      expect((await bench.claim()).map((job) => job.limitKey).sort()).toEqual(['a', 'b']);
    });

    it('guarantee 7: concurrent inserts, claims and settles never exceed a limit nor lose a slot', async () => {
      const bench = await open();
      await setLimit(bench, 3);
      await Promise.all(Array.from({ length: 15 }, () => bench.add({ limitKey: 'k' })));
      let done = 0;
      for (let round = 0; round < 30 && done < 15; round++) {
        const claimed = (await Promise.all(Array.from({ length: 5 }, () => bench.claim({ limit: 2 })))).flat();
        const active = await bench.store.count({ tenant: '', states: ['active'] }, { atMost: 99 });
        expect(active).toBeLessThanOrEqual(3);
        expect(await holders(bench)).toBe(Math.min(3, 15 - done));
        await Promise.all(claimed.map((job) => bench.settle(job, COMPLETED)));
        done += claimed.length;
      }
      expect(done).toBe(15);
      expect(await holders(bench)).toBe(0);
    });
  });
}
