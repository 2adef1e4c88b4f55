import { describe, expect, it } from 'vitest';
import type { TakeAnswer } from '../../store/locks.ts';
import type { Bench, OpenBench } from './bench.ts';

const take = ({ store }: Bench, owner: string, { name = 'sweep', leaseMs = 1000 } = {}): Promise<TakeAnswer> =>
  store.locks.take({ name, owner, leaseMs });

const release = ({ store }: Bench, owner: string, fence: number, name = 'sweep'): Promise<boolean> =>
  store.locks.release({ name, owner, fence });

export function testLocks(open: OpenBench): void {
  describe('locks', () => {
    it('one owner holds a lock, the others learn until when', async () => {
      const bench = await open();
      const until = bench.now + 1000;
      expect(await take(bench, 'a')).toEqual({ status: 'held', fence: 1, until });
      expect(await take(bench, 'b')).toEqual({ status: 'taken', until });
      expect(await take(bench, 'b', { name: 'other' })).toEqual({ status: 'held', fence: 1, until });
    });

    it('the holder prolongs its lease and keeps its fence; a lease never becomes shorter', async () => {
      const bench = await open();
      await take(bench, 'a');
      await bench.clock.advance(999);
      const until = bench.now + 1000;
      expect(await take(bench, 'a')).toEqual({ status: 'held', fence: 1, until });
      expect(await take(bench, 'a', { leaseMs: 10 })).toEqual({ status: 'held', fence: 1, until });
      await bench.clock.advance(999);
      expect(await take(bench, 'b')).toEqual({ status: 'taken', until });
    });

    it('a lease ends by the clock, and each new holder has a higher fence', async () => {
      const bench = await open();
      await take(bench, 'a');
      await bench.clock.advance(1000);
      expect(await take(bench, 'b')).toEqual({ status: 'held', fence: 2, until: bench.now + 1000 });
      expect(await take(bench, 'a')).toMatchObject({ status: 'taken' });
      expect(await release(bench, 'a', 1)).toBe(false);
      expect(await take(bench, 'b')).toMatchObject({ fence: 2 });
      await bench.clock.advance(1000);
      // No other owner held it meanwhile, but this one did not either.
      expect(await take(bench, 'b')).toMatchObject({ status: 'held', fence: 3 });
    });

    it('an end that is known to be stale makes it free for others, and a later end does not', async () => {
      const bench = await open();
      await take(bench, 'a', { leaseMs: 86_400_000 });
      const stale = bench.now + 86_400_000;
      const takeStale = (owner: string, staleUntil: number) =>
        bench.store.locks.take({ name: 'sweep', owner, leaseMs: 1000, staleUntil });
      expect(await takeStale('b', stale - 1)).toEqual({ status: 'taken', until: stale });
      // Its holder says nothing new by it.
      expect(await takeStale('a', stale)).toEqual({ status: 'held', fence: 1, until: stale });
      const until = bench.now + 1000;
      expect(await takeStale('b', stale)).toEqual({ status: 'held', fence: 2, until });
      // Made again, as after a lost answer.
      expect(await takeStale('b', stale)).toEqual({ status: 'held', fence: 2, until });
      expect(await takeStale('c', stale)).toEqual({ status: 'taken', until });
      expect(await take(bench, 'a')).toEqual({ status: 'taken', until });
    });

    it('release: makes it free at once, and who takes it again gets a new fence', async () => {
      const bench = await open();
      await take(bench, 'a');
      expect(await release(bench, 'a', 1)).toBe(true);
      expect(await release(bench, 'a', 1)).toBe(false);
      expect(await take(bench, 'a')).toMatchObject({ status: 'held', fence: 2 });
      expect(await release(bench, 'a', 1)).toBe(false);
      expect(await release(bench, 'b', 2)).toBe(false);
      expect(await release(bench, 'a', 3)).toBe(false);
      expect(await take(bench, 'b')).toMatchObject({ status: 'taken' });
      expect(await release(bench, 'a', 2)).toBe(true);
      expect(await take(bench, 'b')).toMatchObject({ status: 'held', fence: 3 });
      await bench.clock.advance(1000);
      expect(await release(bench, 'b', 3)).toBe(false);
      expect(await release(bench, 'b', 1, 'never taken')).toBe(false);
    });

    it('of ten that take it at once, one holds it, in every round with a higher fence', async () => {
      const bench = await open();
      for (let fence = 1; fence <= 3; fence++) {
        const owners = Array.from({ length: 10 }, (_, n) => `owner-${n}`);
        const answers = await Promise.all(owners.map((owner) => take(bench, owner)));
        const held = answers.filter(({ status }) => status === 'held');
        expect(held).toEqual([{ status: 'held', fence, until: bench.now + 1000 }]);
        await bench.clock.advance(1000);
      }
    });

    it('of ten that release it at once, one has', async () => {
      const bench = await open();
      await take(bench, 'a');
      const answers = await Promise.all(Array.from({ length: 10 }, () => release(bench, 'a', 1)));
      expect(answers.filter((released) => released)).toHaveLength(1);
    });

    it('outlives pruning, so that the fence never restarts', async () => {
      const bench = await open();
      await take(bench, 'a', { name: 'ein Schloss/#%~ 🔒', leaseMs: 1 });
      await bench.clock.advance(400 * 86_400_000);
      const later = { finishedBefore: bench.now, deadBefore: bench.now, eventsBefore: bench.now };
      await bench.store.prune({ ...later, limit: 100 });
      expect(await take(bench, 'b', { name: 'ein Schloss/#%~ 🔒' })).toMatchObject({ status: 'held', fence: 2 });
    });

    it('what cannot be a name or a lease is refused', async () => {
      const bench = await open();
      const refusal = (field: string) => ({ code: 'invalid_request', details: { field } });
      await expect(take(bench, 'a', { name: '' })).rejects.toMatchObject(refusal('name'));
      await expect(take(bench, 'a\n')).rejects.toMatchObject(refusal('owner'));
      for (const leaseMs of [0, -1, 0.5, Number.NaN]) {
        await expect(take(bench, 'a', { leaseMs })).rejects.toMatchObject(refusal('leaseMs'));
      }
      expect(await take(bench, 'a')).toMatchObject({ fence: 1 });
    });
  });
}
