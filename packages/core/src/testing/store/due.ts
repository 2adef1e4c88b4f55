import { describe, expect, it } from 'vitest';
import type { Job } from '../../job/job.ts';
import { aCron, type JobOverrides } from '../factories.ts';
import { type Bench, COMPLETED, FAILED, idsOf, type OpenBench, sortedIds } from './bench.ts';

const NOTHING = { jobs: [], crons: [], workflows: [], admitted: [], unreadable: [], nextAt: null };

const dueIds = async (bench: Bench): Promise<string[]> =>
  idsOf((await bench.store.due({ now: bench.now, limit: 100 })).jobs);

export function testDue(open: OpenBench): void {
  describe('due', () => {
    it('answers whole rows, earliest first, and the moment of the next one', async () => {
      const bench = await open();
      const at = (ms: number): JobOverrides => ({ scheduledAt: bench.now + ms });
      const c = await bench.add(at(3000));
      const a = await bench.add(at(1000));
      const b = await bench.add({ ...at(2000), tenant: 'other' });
      const later = await bench.add(at(9000));
      await bench.clock.advance(3000);
      expect(await bench.store.due({ now: bench.now, limit: 10 })).toEqual({
        ...NOTHING,
        jobs: [a, b, c],
        nextAt: later.nextAt,
      });
      expect(await bench.store.due({ now: bench.now, limit: 2 })).toEqual({
        ...NOTHING,
        jobs: [a, b],
        nextAt: c.nextAt,
      });
      expect(await bench.store.due({ now: bench.now, limit: 3 })).toEqual({
        ...NOTHING,
        jobs: [a, b, c],
        nextAt: later.nextAt,
      });
    });

    it('answers null when nothing waits', async () => {
      const bench = await open();
      expect(await bench.store.due({ now: bench.now, limit: 10 })).toEqual(NOTHING);
      await bench.add();
      await bench.add({ state: 'pending' });
      const done = await bench.start();
      await bench.settle(done, COMPLETED);
      expect(await bench.store.due({ now: bench.now + 1e9, limit: 10 })).toEqual(NOTHING);
    });

    const alarms: [string, number, (bench: Bench) => Promise<Job>][] = [
      ['a schedule', 5000, (bench) => bench.add({ scheduledAt: bench.now + 5000 })],
      ['the expiry of a waiting job', 4000, (bench) => bench.add({ expiresAt: bench.now + 4000 })],
      ['the expiry of a parked job', 4000, (bench) => bench.addParked({ expiresAt: bench.now + 4000 })],
      [
        'an expiry before the schedule',
        4000,
        (bench) => bench.add({ scheduledAt: bench.now + 5000, expiresAt: bench.now + 4000 }),
      ],
      ['the end of a lease', 30_000, (bench) => bench.start()],
      ['an execution timeout', 2000, (bench) => bench.start({ timeoutMs: 2000 })],
    ];
    it.each(alarms)('a row comes up at %s and not before', async (_, ms, make) => {
      const bench = await open();
      const job = await make(bench);
      await bench.clock.advance(ms - 1);
      expect(await dueIds(bench)).toEqual([]);
      await bench.clock.advance(1);
      expect(await dueIds(bench)).toEqual([job.id]);
      await bench.sweep();
      expect(await dueIds(bench)).toEqual([]);
    });

    it('a retry comes up when its delay is over', async () => {
      const bench = await open();
      const claimed = await bench.start({ spec: { args: [], meta: {}, retry: { jitter: false } } });
      await bench.settle(claimed, FAILED);
      expect(await bench.store.due({ now: bench.now, limit: 9 })).toEqual({
        ...NOTHING,
        jobs: [],
        nextAt: bench.now + 1000,
      });
      await bench.clock.advance(1000);
      await bench.sweep();
      expect(idsOf(await bench.claim())).toEqual([claimed.id]);
    });

    it('a finished workflow node comes up at once, until it was advanced', async () => {
      const bench = await open();
      const node = await bench.start({ workflowId: 'flow', node: 'a' });
      await bench.settle(node, COMPLETED);
      expect(await dueIds(bench)).toEqual([node.id]);
      await bench.advance(node);
      expect(await dueIds(bench)).toEqual([]);
    });

    // fault: the worker falls silent and its lease runs out
    it('guarantee 2: the next run starts only after the lease ran out, and then with a new token', async () => {
      const bench = await open();
      const first = await bench.start();
      await bench.clock.advance(29_999);
      await bench.sweep();
      expect(await bench.claim()).toEqual([]);
      await bench.clock.advance(1);
      await bench.sweep();
      const [second] = await bench.claim();
      expect(second).toMatchObject({ id: first.id, run: 2, attempt: 2 });
      expect(await bench.settle(first, COMPLETED)).toEqual({ status: 'lost' });
      expect((await bench.settle(second!, COMPLETED)).status).toBe('applied');
    });

    it('crons come up beside jobs, earliest first, at most as many as asked for', async () => {
      const bench = await open();
      const at = (name: string, ms: number) => bench.store.crons.put(aCron({ name, nextAt: bench.now + ms }));
      const [b, a, later] = [await at('b', 2000), await at('a', 1000), await at('c', 9000)];
      const job = await bench.add({ scheduledAt: bench.now + 5000 });
      expect(await bench.store.due({ now: bench.now, limit: 9 })).toEqual({ ...NOTHING, nextAt: a.nextAt });
      await bench.clock.advance(2000);
      const all = await bench.store.due({ now: bench.now, limit: 9 });
      expect(all).toEqual({ ...NOTHING, crons: [a, b], nextAt: job.nextAt });
      const one = await bench.store.due({ now: bench.now, limit: 1 });
      expect(one).toEqual({ ...NOTHING, crons: [a], nextAt: b.nextAt });
      await bench.command(job, { do: 'cancel' });
      expect((await bench.store.due({ now: bench.now, limit: 9 })).nextAt).toBe(later.nextAt);
    });

    it('A1: rows that cannot be read are named, and hide no others', async ({ skip }) => {
      const bench = await open();
      if (!bench.damage) return skip('the store keeps no rows that could be damaged from outside');
      const at = { scheduledAt: bench.now + 1000 };
      const [good, bad, other] = [await bench.add(at), await bench.add(at), await bench.add(at)];
      const cron = await bench.store.crons.put(aCron({ name: 'good', nextAt: bench.now + 1000 }));
      await bench.store.crons.put(aCron({ name: 'bad', nextAt: bench.now + 1000 }));
      await bench.damage.job(bad);
      await bench.damage.cron({ tenant: '', name: 'bad' });
      await bench.clock.advance(1000);
      const due = await bench.store.due({ now: bench.now, limit: 9 });
      expect(sortedIds(due.jobs)).toEqual(sortedIds([good, other]));
      expect(due.crons).toEqual([cron]);
      const named = due.unreadable.map(({ kind, tenant, id }) => ({ kind, tenant, id }));
      expect(named).toEqual([
        { kind: 'job', tenant: '', id: bad.id },
        { kind: 'cron', tenant: '', id: 'bad' },
      ]);
      expect(due.nextAt).toBeNull();
    });

    it('any number of sweeps at once does what one does', async () => {
      const bench = await open();
      const jobs = await bench.addMany(10, { scheduledAt: bench.now + 1000 });
      await bench.clock.advance(1000);
      await Promise.all(Array.from({ length: 5 }, () => bench.sweep()));
      expect(await bench.log({ types: ['job.enqueued'] })).toHaveLength(jobs.length);
      expect(await bench.claim()).toHaveLength(jobs.length);
    });
  });
}
