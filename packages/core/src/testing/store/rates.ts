import { describe, expect, it } from 'vitest';
import type { Job } from '../../job/job.ts';
import type { NewJob } from '../../store/insert.ts';
import { type Bench, COMPLETED, FAILED, idsOf, type OpenBench } from './bench.ts';

const PERIOD_MS = 1000;
const setRate = (bench: Bench, limit: number, concurrency: number | null = null, periodMs = PERIOD_MS) =>
  bench.limit({ concurrency, rate: { limit, periodMs } });

/** Lets the store give out what its rates have let go of, as the sweep does. */
const due = (bench: Bench) => bench.store.due({ now: bench.now, limit: 100 });

/** Goes on to whenever the store wants to be asked next, and asks. */
async function waitForNext(bench: Bench): Promise<Job[]> {
  const { nextAt } = await due(bench);
  expect(nextAt).toBeGreaterThan(bench.now);
  await bench.clock.set(nextAt!);
  return (await due(bench)).admitted;
}

export function testRates(open: OpenBench): void {
  describe('rates', () => {
    // fault: none, the rule itself
    it('guarantee 7: as many as the rate allows start, and the others wait until it lets go', async () => {
      const bench = await open();
      await setRate(bench, 2);
      const jobs = await bench.addMany(5, { limitKey: 'k' });
      const claimed = await bench.claim();
      expect(idsOf(claimed)).toEqual(idsOf(jobs.slice(0, 2)));
      // An end frees no start.
      for (const job of claimed) expect(await bench.settle(job, COMPLETED)).toMatchObject({ admitted: [] });
      const started = bench.now;
      const admitted = await waitForNext(bench);
      expect(idsOf(admitted)).toEqual(idsOf(jobs.slice(2, 4)));
      expect(admitted).toEqual(await Promise.all(admitted.map((job) => bench.read(job))));
      expect(bench.now).toBeGreaterThanOrEqual(started + PERIOD_MS);
      expect(bench.now).toBeLessThanOrEqual(started + PERIOD_MS * 1.2);
      expect(idsOf(await bench.claim())).toEqual(idsOf(jobs.slice(2, 4)));
    });

    // fault: the wall clock is set back by an hour
    it('A22: a clock that was set back does not shut a key', async () => {
      const bench = await open();
      await setRate(bench, 1);
      const [first] = await bench.addMany(1, { limitKey: 'k' });
      const [claimed] = await bench.claim();
      expect(claimed!.id).toBe(first!.id);
      await bench.settle(claimed!, COMPLETED);
      bench.clock.jump(-3_600_000);
      const [next] = await bench.addMany(1, { limitKey: 'k' });
      expect(idsOf(await bench.claim())).toEqual([next!.id]);
    });

    it('A1: a limit that cannot be read is named, and another one lets its jobs in', async ({ skip }) => {
      const bench = await open();
      if (!bench.damage) return skip('the store keeps no rows that could be damaged from outside');
      for (const key of ['bad', 'good']) {
        await bench.limit({ rate: { limit: 1, periodMs: PERIOD_MS } }, { key });
        await bench.addMany(2, { limitKey: key, queue: key });
        await bench.claim({ queues: [key] });
      }
      // Notes when the next one may start.
      await due(bench);
      await bench.damage.limit({ tenant: '', key: 'bad' });
      await bench.clock.advance(2 * PERIOD_MS);
      const { admitted, unreadable } = await due(bench);
      expect(admitted.map(({ limitKey }) => limitKey)).toEqual(['good']);
      expect(unreadable).toMatchObject([{ kind: 'limit', tenant: '', id: 'bad' }]);
    });

    // fault: claims come four at once, at uneven times
    it('guarantee 7: no stretch of a period ever has more starts than allowed, however they come', async () => {
      const bench = await open();
      await setRate(bench, 3);
      await bench.addMany(30, { limitKey: 'k' });
      const starts: number[] = [];
      for (let round = 0; starts.length < 30; round++) {
        expect(round).toBeLessThan(200);
        await bench.clock.advance([0, 130, 70, 410, 5][round % 5]!);
        await due(bench);
        const claims = Array.from({ length: 4 }, () => bench.claim({ limit: 1 + (round % 2) }));
        const claimed = (await Promise.all(claims)).flat();
        starts.push(...claimed.map(() => bench.now));
        await Promise.all(claimed.map((job) => bench.settle(job, COMPLETED)));
        expect(starts.filter((at) => at > bench.now - PERIOD_MS).length).toBeLessThanOrEqual(3);
      }
    });

    // fault: none, the rule itself
    it('guarantee 7: a slot that was given and not used yet counts as a start, however long it takes', async () => {
      const bench = await open();
      await setRate(bench, 2);
      await bench.addMany(4, { limitKey: 'k' });
      await bench.clock.advance(10 * PERIOD_MS);
      expect(await due(bench)).toMatchObject({ admitted: [], nextAt: null });
      expect(await bench.claim()).toHaveLength(2);
      expect((await due(bench)).nextAt).not.toBeNull();
    });

    it('an unused slot that is given back goes to the next one', async () => {
      const bench = await open();
      await setRate(bench, 1);
      const [first, second] = await bench.addMany(2, { limitKey: 'k' });
      expect(await bench.command(first!, { do: 'cancel' })).toMatchObject({ admitted: [{ id: second!.id }] });
    });

    // fault: the run fails or is handed back
    it.each([
      ['is handed back', { kind: 'requeued' } as const],
      ['fails and comes back', FAILED],
    ])('guarantee 7: a job that %s starts again only when the rate allows it', async (_, outcome) => {
      const bench = await open();
      await setRate(bench, 1, null, 60_000);
      const job = await bench.add({ limitKey: 'k' });
      const [running] = await bench.claim();
      await bench.settle(running!, outcome);
      await bench.clock.advance(5000);
      await bench.sweep();
      expect(await bench.read(job)).toMatchObject({ state: 'available', holdsSlot: false });
      expect(await bench.claim()).toEqual([]);
      expect(idsOf(await waitForNext(bench))).toEqual([job.id]);
      expect(await bench.claim()).toMatchObject([{ id: job.id, run: 2 }]);
    });

    // fault: none, the rule itself
    it('guarantee 7: concurrency and rate both hold', async () => {
      const bench = await open();
      await setRate(bench, 3, 2);
      await bench.addMany(5, { limitKey: 'k' });
      const [a, b, ...none] = await bench.claim();
      expect(none).toEqual([]);
      // Room in the rate, but none beside those who run.
      expect((await due(bench)).admitted).toEqual([]);
      expect(await bench.settle(a!, COMPLETED)).toMatchObject({ admitted: [{}] });
      expect(await bench.settle(b!, COMPLETED)).toMatchObject({ admitted: [] });
      expect(await bench.claim()).toHaveLength(1);
      expect(await waitForNext(bench)).toHaveLength(1);
    });

    // fault: the limit changes while jobs hold its slots
    it('guarantee 7: changed while it is used, up and down', async () => {
      const bench = await open();
      expect(await setRate(bench, 1)).toBe(0);
      await bench.addMany(8, { limitKey: 'k' });
      expect(await bench.claim()).toHaveLength(1);
      expect(await setRate(bench, 3)).toBe(2);
      // Holders stay holders; what has started stays counted.
      expect(await setRate(bench, 1)).toBe(0);
      expect(await bench.claim()).toHaveLength(2);
      await bench.clock.advance(PERIOD_MS / 2);
      expect((await due(bench)).admitted).toEqual([]);
      expect(await waitForNext(bench)).toHaveLength(1);
      expect(await bench.claim()).toHaveLength(1);
      // Taken away, everybody may start.
      expect(await bench.limit({ concurrency: 100 })).toBe(4);
    });

    it('another period, longer or shorter, does not bring it to a standstill', async () => {
      const bench = await open();
      await setRate(bench, 1);
      await bench.addMany(4, { limitKey: 'k' });
      const claim = () => bench.claim({ leaseMs: 1e9 });
      expect(await claim()).toHaveLength(1);
      for (const periodMs of [60_000, 1000]) {
        const begin = bench.now;
        await setRate(bench, 1, null, periodMs);
        // Whether starts under the old period count on is left to the store.
        if ((await claim()).length === 0) {
          await waitForNext(bench);
          expect(await claim()).toHaveLength(1);
        }
        expect(bench.now).toBeLessThanOrEqual(begin + 60_000 * 1.2);
        expect(await claim()).toEqual([]);
      }
    });

    it.each([
      ['an insert that is refused', (bench: Bench, first: NewJob) => bench.store.insert([{ jobs: [first] }])],
      ['a settle that comes too late', (bench: Bench, _: NewJob, run: Job) => bench.settle(run, FAILED)],
    ])('a rate that has let go lets the next one in, also after %s', async (_, meddle) => {
      const bench = await open();
      await setRate(bench, 1);
      const first = bench.make({ limitKey: 'k' });
      await bench.insert(first);
      const second = await bench.add({ limitKey: 'k' });
      const [run] = await bench.claim();
      await bench.settle(run!, COMPLETED);
      await due(bench);
      await bench.clock.advance(2 * PERIOD_MS);
      const [answer] = [await meddle(bench, first, run!)].flat();
      expect(['exists', 'lost']).toContain(answer!.status);
      expect(idsOf((await due(bench)).admitted)).toEqual([second.id]);
    });

    it('a rate that has let go lets the next one in, also after a slot of before is used', async () => {
      const bench = await open();
      await setRate(bench, 2);
      const [, , third] = await bench.addMany(3, { limitKey: 'k' });
      expect(await bench.claim({ limit: 1 })).toHaveLength(1);
      await due(bench);
      await bench.clock.advance(2 * PERIOD_MS);
      expect(await bench.claim({ limit: 1, leaseMs: 1e9 })).toHaveLength(1);
      expect(idsOf((await due(bench)).admitted)).toEqual([third!.id]);
    });

    it('due says when the rate lets go, beside everything else that waits', async () => {
      const bench = await open();
      await setRate(bench, 1);
      await bench.addMany(2, { limitKey: 'k' });
      await bench.claim({ leaseMs: 60_000 });
      const byRate = (await due(bench)).nextAt!;
      expect(byRate).toBeLessThan(bench.now + 2 * PERIOD_MS);
      await bench.add({ scheduledAt: bench.now + 300 });
      expect((await due(bench)).nextAt).toBe(bench.now + 300);
      await bench.store.limits.set('', 'k', { concurrency: 5, rate: null }, bench.now);
      await bench.clock.advance(300);
      await bench.sweep();
      expect((await due(bench)).nextAt).toBeGreaterThan(byRate);
    });
  });
}
