import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { transition } from '../../job/transition.ts';
import { aJob } from '../factories.ts';
import { anyOverrides } from '../random-job.ts';
import { COMPLETED, idsOf, newClaimId, type OpenBench, sortedIds } from './bench.ts';

export function testClaim(open: OpenBench): void {
  describe('claim', () => {
    it('writes exactly what transition() says, for any job', async () => {
      const bench = await open();
      let round = 0;
      await fc.assert(
        fc.asyncProperty(anyOverrides(), fc.integer({ min: 1, max: 600_000 }), async (overrides, leaseMs) => {
          const queue = `queue-${++round}`;
          const [job] = await bench.insert(aJob({ ...overrides, queue }));
          const request = bench.request({ queues: [queue], leaseMs, claimId: `claim-${round}`, workerId: 'w' });
          const expected = transition(job!, { do: 'claim', ...request }, request.now);

          const claimed = await bench.store.claim([request]);
          expect(claimed).toEqual([expected ? [expected.job] : []]);
          expect(await bench.read(job!)).toEqual(expected?.job ?? job);
          expect((await bench.eventsOf(job!)).slice(1)).toEqual(expected?.events ?? []);
        }),
        { numRuns: 50 },
      );
    });

    it('gives by priority, then by place in line and never by id', async ({ skip }) => {
      const bench = await open();
      if (bench.store.capabilities.ordering !== 'strict') skip('the store promises no exact order');
      const [third, first, fourth, second] = await bench.insert(
        bench.make({ seq: 40 }),
        bench.make({ seq: 50, priority: 100 }),
        bench.make({ seq: 10, priority: -100 }),
        bench.make({ seq: 30 }),
      );
      expect(idsOf(await bench.claim())).toEqual(idsOf([first!, second!, third!, fourth!]));
    });

    it('gives at most as many as asked for', async () => {
      const bench = await open();
      await bench.addMany(5);
      expect(await bench.claim({ limit: 2 })).toHaveLength(2);
      expect(await bench.claim({ limit: 10 })).toHaveLength(3);
      expect(await bench.claim({ limit: 10 })).toEqual([]);
    });

    it('gives from queues strictly in the order named, whatever the priorities', async () => {
      const bench = await open();
      const low = await bench.addMany(2, { queue: 'low', priority: 100 });
      const high = await bench.addMany(2, { queue: 'high', priority: -100 });
      await bench.add({ queue: 'other' });
      const first = await bench.claim({ queues: ['high', 'low'], limit: 3 });
      expect(sortedIds(first.slice(0, 2))).toEqual(sortedIds(high));
      expect(first[2]!.queue).toBe('low');
      const second = await bench.claim({ queues: ['high', 'low'], limit: 3 });
      expect(sortedIds([first[2]!, ...second])).toEqual(sortedIds(low));
    });

    it('gives available jobs only', async () => {
      const bench = await open();
      const { available } = await bench.oneInEachState();
      expect(idsOf(await bench.claim())).toEqual([available.id]);
    });

    it('skips what has expired though nobody has looked at it yet', async () => {
      const bench = await open();
      await bench.addMany(3, { expiresAt: bench.now + 1000, priority: 5 });
      const good = await bench.add();
      await bench.clock.advance(1000);
      expect(idsOf(await bench.claim({ limit: 1 }))).toEqual([good.id]);
      expect(await bench.claim()).toEqual([]);
    });

    // fault: the same call is made again
    it('guarantee 10: the same claim id answers the jobs it holds and claims no others', async () => {
      const bench = await open();
      await bench.addMany(5);
      const request = bench.request({ limit: 2 });
      const [first] = await bench.store.claim([request]);
      await bench.clock.advance(1000);
      const [again] = await bench.store.claim([{ ...request, limit: 5, now: bench.now }]);
      expect(again).toHaveLength(2);
      expect(again).toEqual(expect.arrayContaining(first!));
      expect(await bench.store.count({ tenant: '', states: ['active'] }, { atMost: 9 })).toBe(2);
    });

    // fault: the same call is made again, after one of its jobs was settled
    it('guarantee 10: a repeated claim leaves out what was settled meanwhile', async () => {
      const bench = await open();
      await bench.addMany(4);
      const request = bench.request({ limit: 2 });
      const [first] = await bench.store.claim([request]);
      await bench.settle(first![0]!, COMPLETED);
      const [again] = await bench.store.claim([request]);
      expect(again).toEqual([first![1]]);
    });

    it('a claim id under which nothing was found yet claims as if new', async () => {
      const bench = await open();
      const request = bench.request();
      expect(await bench.store.claim([request])).toEqual([[]]);
      const job = await bench.add();
      const [found] = await bench.store.claim([request]);
      expect(idsOf(found!)).toEqual([job.id]);
    });

    it('answers several requests of one call one by one', async () => {
      const bench = await open();
      const a = await bench.addMany(3, { queue: 'a' });
      const b = await bench.add({ queue: 'b' });
      const answers = await bench.store.claim([
        bench.request({ queues: ['a'], limit: 2, workerId: 'w1' }),
        bench.request({ queues: ['a', 'b'], limit: 5, workerId: 'w2' }),
        bench.request({ queues: ['a', 'b'], limit: 5, workerId: 'w3' }),
      ]);
      expect(answers.map((jobs) => jobs.length)).toEqual([2, 2, 0]);
      expect(sortedIds(answers.flat())).toEqual(sortedIds([...a, b]));
      expect(answers[1]!.map((job) => job.workerId)).toEqual(['w2', 'w2']);
    });

    // fault: twenty calls at once
    it('guarantee 2: twenty concurrent claims never give a job twice, and leave none behind', async () => {
      const bench = await open();
      const jobs = [...(await bench.addMany(40, { queue: 'a' })), ...(await bench.addMany(20, { queue: 'b' }))];
      const claimed: string[] = [];
      for (let round = 0; round < 10 && claimed.length < jobs.length; round++) {
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => bench.claim({ queues: ['a', 'b'], limit: 4, claimId: newClaimId() })),
        );
        claimed.push(...idsOf(answers.flat()));
      }
      expect(claimed.sort()).toEqual(sortedIds(jobs));
      const started = await bench.log({ types: ['job.started'] });
      expect(started).toHaveLength(jobs.length);
    });
  });
}
