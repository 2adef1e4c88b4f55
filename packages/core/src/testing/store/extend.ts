import { describe, expect, it } from 'vitest';
import type { Job } from '../../job/job.ts';
import { transition } from '../../job/transition.ts';
import type { ExtendRequest } from '../../store/extend.ts';
import { type Bench, COMPLETED, type OpenBench } from './bench.ts';

const LOST = { status: 'lost' };

async function extend(bench: Bench, job: Job, overrides: Partial<ExtendRequest> = {}) {
  const by = { run: job.run, claimId: job.claimId ?? 'none' };
  const request = { tenant: job.tenant, id: job.id, by, leaseMs: null, now: bench.now, ...overrides };
  const [answer] = await bench.store.extend([request]);
  return answer!;
}

export function testExtend(open: OpenBench): void {
  describe('extend', () => {
    it.each([
      ['the length granted at the claim', {}, null, 30_000],
      ['the length of the job itself', { visibilityMs: 7_000 }, null, 7_000],
      ['the length asked for', {}, 90_000, 90_000],
      ['never past the execution timeout', { timeoutMs: 31_000 }, 60_000, 21_000],
    ])('prolongs the lease: %s', async (_, overrides, leaseMs, expected) => {
      const bench = await open();
      const claimed = await bench.start(overrides);
      await bench.clock.advance(10_000);
      const leaseUntil = bench.now + expected;
      expect(await extend(bench, claimed, { leaseMs })).toEqual({ status: 'extended', leaseUntil });
      const row = await bench.read(claimed);
      expect(row).toEqual(transition(claimed, { do: 'extend', leaseMs }, bench.now)!.job);
      expect(row.leaseUntil).toBe(leaseUntil);
    });

    it('writes no event and keeps the version', async () => {
      const bench = await open();
      const claimed = await bench.start();
      await bench.clock.advance(1000);
      await extend(bench, claimed);
      expect(await bench.eventsOf(claimed)).toHaveLength(2);
      expect((await bench.read(claimed)).version).toBe(2);
    });

    // fault: a forged token: another claim id, another run or another worker
    it('guarantee 3: only for the run, the worker or the state that it speaks for', async () => {
      const bench = await open();
      const claimed = await bench.start();
      const status = async (by: ExtendRequest['by']) => (await extend(bench, claimed, { by })).status;
      expect(await status({ run: 1, claimId: claimed.claimId! })).toBe('extended');
      expect(await status({ run: 2, claimId: claimed.claimId! })).toBe('lost');
      expect(await status({ run: 1, claimId: 'forged' })).toBe('lost');
      expect(await status({ workerId: 'worker-1' })).toBe('extended');
      expect(await status({ workerId: 'worker-2' })).toBe('lost');
      expect(await status('anyone')).toBe('extended');
    });

    it('is lost when the run is over, however it is asked for', async () => {
      const bench = await open();
      const claimed = await bench.start();
      await bench.settle(claimed, COMPLETED);
      const row = await bench.read(claimed);
      expect(await extend(bench, claimed)).toEqual(LOST);
      expect(await extend(bench, claimed, { by: { workerId: 'worker-1' } })).toEqual(LOST);
      expect(await extend(bench, claimed, { by: 'anyone' })).toEqual(LOST);
      expect(await extend(bench, await bench.add(), { by: 'anyone' })).toEqual(LOST);
      expect(await extend(bench, bench.make().job, { by: 'anyone' })).toEqual(LOST);
      expect(await bench.read(claimed)).toEqual(row);
    });

    // fault: none, the rule itself
    it('guarantee 2: moves the alarm, so that the sweep leaves the run alone', async () => {
      const bench = await open();
      const claimed = await bench.start();
      await bench.clock.advance(20_000);
      await extend(bench, claimed);
      await bench.clock.advance(20_000);
      expect(await bench.store.due({ now: bench.now, limit: 10 })).toMatchObject({
        jobs: [],
        nextAt: bench.now + 10_000,
      });
    });

    // fault: heartbeats arrive late and out of order
    it('guarantee 2: a late heartbeat never shortens what a newer one gave', async () => {
      const bench = await open();
      const claimed = await bench.start({ timeoutMs: 100_000 });
      const leaseUntil = bench.now + 90_000;
      expect(await extend(bench, claimed, { leaseMs: 90_000 })).toEqual({ status: 'extended', leaseUntil });
      const row = await bench.read(claimed);
      const late = [{ now: bench.now - 5000 }, { leaseMs: 1 }, {}];
      for (const beat of late) {
        expect(await extend(bench, claimed, beat)).toEqual({ status: 'extended', leaseUntil });
        expect(await bench.read(claimed)).toEqual(row);
      }
      const beats = [10_000, 95_000, 1, 30_000].map((leaseMs) => extend(bench, claimed, { leaseMs }));
      await Promise.all(beats);
      expect((await bench.read(claimed)).leaseUntil).toBe(bench.now + 95_000);
    });

    it('a lease that ran out can be prolonged while nobody has noticed', async () => {
      const bench = await open();
      const claimed = await bench.start();
      await bench.clock.advance(45_000);
      expect((await extend(bench, claimed)).status).toBe('extended');
      await bench.sweep();
      expect((await bench.read(claimed)).state).toBe('active');
    });

    it('answers several requests of one call one by one', async () => {
      const bench = await open();
      const [a, b, c] = [await bench.start(), await bench.start(), await bench.start()];
      await bench.settle(b, COMPLETED);
      await bench.clock.advance(26_000);
      const answers = await bench.store.extend(
        [c, b, a].map(({ id }) => ({ tenant: '', id, by: 'anyone', leaseMs: 5000, now: bench.now }) as const),
      );
      const extended = { status: 'extended', leaseUntil: bench.now + 5000 };
      expect(answers).toEqual([extended, LOST, extended]);
    });
  });
}
