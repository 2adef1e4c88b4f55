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

    it('A14: a directive is for the process that it was given to, not for the next one under the same id', async () => {
      const bench = await open();
      const { workers } = bench.store;
      const beat = (instance?: string) =>
        workers.beat({
          tenant: '',
          id: 'w1',
          activeJobs: 0,
          now: bench.now,
          ...(instance !== undefined && { instance }),
        });
      expect(await beat('first')).toBe('running');
      await workers.direct('', 'w1', 'terminate');
      expect([await beat('first'), await beat(), await beat('first')]).toEqual(Array(3).fill('terminate'));
      expect([await beat('second'), await beat('second'), await beat()]).toEqual(Array(3).fill('running'));
      expect(await workers.list('')).toMatchObject([{ id: 'w1', directive: 'running' }]);
      await workers.direct('', 'w1', 'quiet');
      expect(await beat('second')).toBe('quiet');
    });

    // fault: two processes under one id, as in a rolling restart
    it('A14: a directive stays with its process while another one under the same id lives', async () => {
      const bench = await open();
      const { workers } = bench.store;
      const beat = (instance: string) =>
        workers.beat({ tenant: '', id: 'w1', activeJobs: 0, now: bench.now, instance });
      await beat('old');
      await beat('new');
      await workers.direct('', 'w1', 'terminate');
      expect([await beat('old'), await beat('new'), await beat('old'), await beat('new')]).toEqual([
        ...['running', 'terminate', 'running', 'terminate'],
      ]);
      expect(await workers.list('')).toMatchObject([{ id: 'w1', directive: 'terminate' }]);
    });

    it('A14: one that was told before it named an instance goes on as well', async () => {
      const bench = await open();
      const beat = { tenant: '', id: 'w1', activeJobs: 0, now: bench.now };
      await bench.store.workers.beat(beat);
      await bench.store.workers.direct('', 'w1', 'terminate');
      expect(await bench.store.workers.beat({ ...beat, instance: 'first' })).toBe('running');
    });

    it('a worker that nobody has seen cannot be told anything', async () => {
      const bench = await open();
      expect(await bench.store.workers.direct('', 'ghost', 'quiet')).toBeNull();
      expect(await bench.store.workers.list('')).toEqual([]);
    });
  });
}
