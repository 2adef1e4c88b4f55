import { describe, expect, it } from 'vitest';
import { JOB_STATES, type JobState } from '../../job/job.ts';
import type { OpenBench } from './bench.ts';

export function testCount(open: OpenBench): void {
  describe('count', () => {
    it('counts what list would show, up to the bound', async () => {
      const bench = await open();
      await bench.addMany(5, { queue: 'a' });
      await bench.addMany(3, { queue: 'b' });
      const count = (queues: string[], atMost: number) => bench.store.count({ tenant: '', queues }, { atMost });
      expect(await count(['a'], 100)).toBe(5);
      expect(await count(['a', 'b'], 100)).toBe(8);
      expect(await count(['a', 'b'], 8)).toBe(8);
      expect(await count(['a', 'b'], 6)).toBe(6);
      expect(await count(['none'], 6)).toBe(0);
      expect(await bench.store.count({ tenant: '' }, { atMost: 0 })).toBe(0);
    });

    it('counts each state apart', async () => {
      const bench = await open();
      await bench.oneInEachState();
      for (const state of JOB_STATES) {
        expect(await bench.store.count({ tenant: '', states: [state] }, { atMost: 9 }), state).toBe(1);
      }
      expect(await bench.store.count({ tenant: '', states: [...JOB_STATES] }, { atMost: 99 })).toBe(8);
    });

    it('counts a job once, whichever states are asked for together', async () => {
      const bench = await open();
      await bench.oneInEachState();
      await bench.add({ expiresAt: bench.now + 60_000 });
      const size = (state: JobState): number => (state === 'available' ? 2 : 1);
      for (const one of JOB_STATES) {
        for (const two of JOB_STATES.filter((state) => state !== one)) {
          const counted = await bench.store.count({ tenant: '', states: [one, two] }, { atMost: 99 });
          expect(counted, `${one}, ${two}`).toBe(size(one) + size(two));
        }
      }
    });
  });
}
