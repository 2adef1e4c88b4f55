import { describe, expect, it } from 'vitest';
import { aJob } from '../factories.ts';
import { hintFor, type OpenTransport } from './bench.ts';

/** What holds for every transport, whether it claims or hints. */
export function testDelivery(open: OpenTransport): void {
  describe('receive', () => {
    it('brings a job that was told of', async () => {
      const bench = await open();
      const job = await bench.enqueue();
      const { jobs } = await bench.take();
      expect(jobs).toMatchObject([{ id: job.id, state: 'active', run: 1, workerId: 'worker-1' }]);
    });

    it('answers nothing when there is nothing, without waiting if not asked to', async () => {
      const bench = await open();
      expect(await bench.take()).toMatchObject({ jobs: [], deliveries: [] });
      await bench.enqueue({ queue: 'other' });
      expect(await bench.take()).toMatchObject({ jobs: [], deliveries: [] });
    });

    it('brings at most as many as asked for, and the rest later', async () => {
      const bench = await open();
      for (let i = 0; i < 5; i++) await bench.enqueue();
      const first = await bench.take({ max: 2 });
      expect(first.jobs.length).toBeLessThanOrEqual(2);
      const rest = await bench.takeAll({ max: 2 });
      expect(new Set([...first.jobs, ...rest].map((job) => job.id)).size).toBe(5);
    });

    it('waits for a job that comes later', async () => {
      const bench = await open();
      const taken = bench.take({ waitMs: 10_000 });
      const job = await bench.enqueue();
      expect((await taken).jobs).toMatchObject([{ id: job.id }]);
    });

    it('stops waiting when the caller gives up', async () => {
      const bench = await open();
      const abort = new AbortController();
      const taken = bench.take({ waitMs: 10_000, signal: abort.signal });
      abort.abort();
      expect((await taken).jobs).toEqual([]);
      expect((await bench.take({ waitMs: 10_000, signal: abort.signal })).jobs).toEqual([]);
    });

    it('prefers queues in the order named', async () => {
      const bench = await open();
      const low = await bench.enqueue({ queue: 'low', priority: 100 });
      const high = await bench.enqueue({ queue: 'high', priority: -100 });
      const queues = ['high', 'low'];
      expect((await bench.take({ queues, max: 1 })).jobs).toMatchObject([{ id: high.id }]);
      expect((await bench.take({ queues, max: 1 })).jobs).toMatchObject([{ id: low.id }]);
    });

    it('brings higher priorities first, at least tier by tier', async () => {
      const bench = await open();
      for (const priority of [-5, 0, 5]) await bench.enqueue({ priority });
      const order: number[] = [];
      for (let i = 0; i < 3; i++) order.push(...(await bench.take({ max: 1 })).jobs.map((job) => job.priority));
      expect(order).toEqual([5, 0, -5]);
    });

    it('brings every one of many, once', async () => {
      const bench = await open();
      const jobs = await Promise.all(Array.from({ length: 25 }, () => bench.add()));
      await bench.transport.send(jobs.map((job) => hintFor(job)));
      const taken = await bench.takeAll();
      expect(taken.map((job) => job.id).sort()).toEqual(jobs.map((job) => job.id).sort());
    });

    it('brings jobs of the tenant asked for only', async () => {
      const bench = await open();
      const mine = await bench.enqueue({ tenant: 'a' });
      await bench.enqueue({ tenant: 'b' });
      const taken = await bench.take({ tenant: 'a' });
      expect(taken.jobs).toMatchObject([{ id: mine.id, tenant: 'a' }]);
      expect(taken.deliveries.every((delivery) => delivery.tenant === 'a')).toBe(true);
    });
  });

  describe('guarantee 5: a hint changes nothing but latency', () => {
    // fault: the hint is sent three times
    it('doubled: the job runs once', async () => {
      const bench = await open();
      const job = await bench.enqueue();
      await bench.transport.send([hintFor(job), hintFor(job)]);
      expect((await bench.takeAll()).map((taken) => taken.id)).toEqual([job.id]);
    });

    // fault: the hint is sent again after the job has ended
    it('late: a job that has finished does not run again', async () => {
      const bench = await open();
      const job = await bench.enqueue();
      const [held] = (await bench.take()).jobs;
      await bench.complete(held!);
      await bench.transport.send([hintFor(job)]);
      expect(await bench.takeAll()).toEqual([]);
    });

    // fault: hints arrive for jobs that are scheduled, pending or parked
    it('early: a job that is not due does not run', async () => {
      const bench = await open();
      await bench.enqueue({ scheduledAt: bench.store.clock.now() + 60_000 });
      await bench.enqueue({ state: 'pending' });
      const rule = { concurrency: 1, rate: null };
      await bench.store.limits.set('', 'full', rule, bench.store.clock.now());
      await bench.add({ queue: 'elsewhere', limitKey: 'full' });
      await bench.enqueue({ limitKey: 'full' });
      expect(await bench.takeAll()).toEqual([]);
    });

    // fault: a hint for a job that does not exist
    it('of a job that is not there: nothing runs', async () => {
      const bench = await open();
      const job = await bench.add();
      await bench.transport.send([hintFor({ ...job, id: aJob().job.id, queue: 'other' })]);
      expect(await bench.takeAll({ queues: ['other'] })).toEqual([]);
    });

    // fault: the first hint is never sent
    it('lost: the job is in its row, and the next hint brings it', async () => {
      const bench = await open();
      const job = await bench.add();
      const before = await bench.takeAll();
      await bench.transport.send([hintFor(job)]);
      expect([...before, ...(await bench.takeAll())]).toMatchObject([{ id: job.id, run: 1 }]);
    });
  });
}
