import { describe, expect, it } from 'vitest';
import type { OpenBench } from './bench.ts';

export function testWorkers(open: OpenBench): void {
  describe('workers', () => {
    it('a worker is known from its first beat and seen last at its newest', async () => {
      const bench = await open();
      const beat = (id: string, activeJobs: number) =>
        bench.store.workers.beat({ tenant: '', id, activeJobs, now: bench.now });
      const start = bench.now;
      expect(await bench.store.workers.list('')).toEqual([]);
      expect(await beat('w1', 0)).toBe('running');
      await bench.clock.advance(5000);
      expect(await beat('w1', 3)).toBe('running');
      expect(await bench.store.workers.list('')).toEqual([
        { tenant: '', id: 'w1', activeJobs: 3, firstSeenAt: start, lastSeenAt: start + 5000, directive: 'running' },
      ]);
    });

    it('a directive reaches the worker with its next beat and stays', async () => {
      const bench = await open();
      const beat = () => bench.store.workers.beat({ tenant: '', id: 'w1', activeJobs: 1, now: bench.now });
      await beat();
      const told = await bench.store.workers.direct('', 'w1', 'quiet');
      expect(told).toMatchObject({ tenant: '', id: 'w1', activeJobs: 1, directive: 'quiet' });
      expect([await beat(), await beat()]).toEqual(['quiet', 'quiet']);
      await bench.store.workers.direct('', 'w1', 'terminate');
      expect(await beat()).toBe('terminate');
      expect(await bench.store.workers.list('')).toMatchObject([{ id: 'w1', directive: 'terminate' }]);
    });

    it('a worker that nobody has seen cannot be told anything', async () => {
      const bench = await open();
      expect(await bench.store.workers.direct('', 'ghost', 'quiet')).toBeNull();
      expect(await bench.store.workers.list('')).toEqual([]);
    });
  });
}
