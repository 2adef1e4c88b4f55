import { describe, expect, it } from 'vitest';
import { versionChange } from '../changes.ts';
import { type Bench, COMPLETED, FAILED, idsOf, type OpenBench, sortedIds } from './bench.ts';

const setLimit = (bench: Bench, concurrency: number, key = 'k') => bench.limit({ concurrency }, { key });

const holders = async (bench: Bench, key = 'k') => (await bench.store.limits.get('', key))!.holders;

export function testLimits(open: OpenBench): void {
  describe('limits', () => {
    it('tells rule, holders and parked jobs; null for a limit that nobody has set or used', async () => {
      const bench = await open();
      expect(await bench.store.limits.get('', 'k')).toBeNull();
      expect(await setLimit(bench, 2)).toBe(0);
      const rule = { concurrency: 2, rate: null };
      expect(await bench.store.limits.get('', 'k')).toEqual({ tenant: '', key: 'k', rule, holders: 0, parked: 0 });
      await bench.addMany(3, { limitKey: 'k' });
      expect(await bench.store.limits.get('', 'k')).toEqual({ tenant: '', key: 'k', rule, holders: 2, parked: 1 });
    });

    // fault: none, the rule itself
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

    it('without a rule slots are counted and never refused, and a rule set later starts from truth', async () => {
      const bench = await open();
      await bench.addMany(3, { limitKey: 'k' });
      expect(await bench.store.limits.get('', 'k')).toMatchObject({ rule: null, holders: 3, parked: 0 });
      const running = await bench.claim();
      expect(running).toHaveLength(3);
      expect(await setLimit(bench, 2)).toBe(0);
      const next = await bench.add({ limitKey: 'k' });
      expect(next.holdsSlot).toBe(false);
      expect(await bench.settle(running[0]!, COMPLETED)).toMatchObject({ admitted: [] });
      expect(await bench.settle(running[1]!, COMPLETED)).toMatchObject({ admitted: [{ id: next.id }] });
      expect(await holders(bench)).toBe(2);
    });

    // fault: none, the rule itself
    it('guarantee 7: a job may bring the rule of its key, which holds from its own insert on', async () => {
      const bench = await open();
      const made = Array.from({ length: 3 }, () => bench.make({ limitKey: 'k' }));
      const bringing = (concurrency: number) => made.map((job) => ({ ...job, limit: { concurrency, rate: null } }));
      const rows = await bench.insert(...bringing(1).slice(0, 2));
      expect(rows.map((job) => job.holdsSlot)).toEqual([true, false]);
      await bench.insert(bringing(3)[2]!);
      expect(await bench.store.limits.get('', 'k')).toMatchObject({ rule: { concurrency: 3 }, holders: 3, parked: 0 });
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

    // fault: the same call is made again
    it('guarantee 7: an end gives the slot to exactly one: by priority, then by place in line', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      const jobs = await bench.insert(
        bench.make({ limitKey: 'k', seq: 1 }),
        bench.make({ limitKey: 'k', seq: 30, priority: 9 }),
        bench.make({ limitKey: 'k', seq: 20 }),
        bench.make({ limitKey: 'k', seq: 10 }),
      );
      const [first] = await bench.claim();
      const answer = await bench.settle(first!, COMPLETED);
      const next = await bench.read(jobs[1]!);
      expect(answer).toEqual({ status: 'applied', repeated: false, admitted: [next] });
      expect(next).toMatchObject({ holdsSlot: true, version: 1 });
      expect(await bench.settle(first!, COMPLETED)).toEqual({ status: 'applied', repeated: true, admitted: [] });
      expect(await holders(bench)).toBe(1);
      const [second] = await bench.claim();
      expect(second!.id).toBe(jobs[1]!.id);
      expect(await bench.settle(second!, COMPLETED)).toMatchObject({ admitted: [{ id: jobs[3]!.id }] });
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

    it('a run that is handed back or whose lease ran out has its slot again, as the first in line', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      const [a] = await bench.addMany(2, { limitKey: 'k' });
      const [running] = await bench.claim();
      expect(await bench.settle(running!, { kind: 'requeued' })).toMatchObject({ admitted: [{ id: a!.id }] });
      expect(idsOf(await bench.claim())).toEqual([a!.id]);
      await bench.clock.advance(30_000);
      await bench.sweep();
      expect(await holders(bench)).toBe(1);
      expect(idsOf(await bench.claim())).toEqual([a!.id]);
    });

    // fault: none, the rule itself
    it('guarantee 7: a parked job that ends frees no slot', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      const [, parked] = await bench.addMany(3, { limitKey: 'k' });
      expect(await bench.command(parked!, { do: 'cancel' })).toMatchObject({ status: 'applied', admitted: [] });
      expect(await holders(bench)).toBe(1);
      expect(await bench.claim()).toHaveLength(1);
    });

    // fault: another write comes between reading the row and writing it
    it('guarantee 7: a cancel of a job read as parked and admitted meanwhile is lost, and no slot with it', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      const [, second, third] = await bench.addMany(3, { limitKey: 'k' });
      const cancel = versionChange(await bench.read(second!), { do: 'cancel' }, bench.now)!;
      const [running] = await bench.claim();
      await bench.settle(running!, COMPLETED);
      expect(await bench.store.apply([cancel])).toEqual([{ status: 'lost' }]);
      expect(await bench.command(second!, { do: 'cancel' })).toMatchObject({ admitted: [{ id: third!.id }] });
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
      expect(await setLimit(bench, 3)).toBe(2);
      const running = await bench.claim();
      expect(idsOf(running)).toEqual(idsOf(jobs.slice(0, 3)));
      expect(await setLimit(bench, 1)).toBe(0);
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

    // fault: twenty calls at once
    it('guarantee 7: twenty concurrent claims and settles never exceed a limit nor lose a slot', async () => {
      const bench = await open();
      await setLimit(bench, 3);
      const all = 40;
      await Promise.all(Array.from({ length: all }, () => bench.add({ limitKey: 'k' })));
      let done = 0;
      for (let round = 0; round < 60 && done < all; round++) {
        const claimed = (await Promise.all(Array.from({ length: 20 }, () => bench.claim({ limit: 2 })))).flat();
        const active = await bench.store.count({ tenant: '', states: ['active'] }, { atMost: 99 });
        expect(active).toBeLessThanOrEqual(3);
        expect(await holders(bench)).toBe(Math.min(3, all - done));
        const settles = claimed.flatMap((job) => Array.from({ length: 7 }, () => bench.settle(job, COMPLETED)));
        await Promise.all([...settles, bench.claim({ limit: 1, queues: ['none'] })]);
        done += claimed.length;
      }
      expect(done).toBe(all);
      expect(await bench.store.limits.get('', 'k')).toMatchObject({ holders: 0, parked: 0 });
    });

    // fault: a thousand jobs of a full key stand before the others
    it('guarantee 7: a thousand parked jobs of a full key keep nobody else from being claimed', async () => {
      const bench = await open();
      await setLimit(bench, 1);
      for (let slice = 0; slice < 10; slice++) await bench.addMany(100, { limitKey: 'k', priority: 100 });
      const others = await bench.addMany(3, { priority: -100 });
      const [first, ...rest] = await bench.claim({ limit: 4 });
      expect(first!.limitKey).toBe('k');
      expect(sortedIds(rest)).toEqual(sortedIds(others));
      expect(await bench.claim({ limit: 4 })).toEqual([]);
    });
  });
}
