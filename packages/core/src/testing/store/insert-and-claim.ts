import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { transition } from '../../job/transition.ts';
import { aJob } from '../factories.ts';
import { insertAndClaim } from '../insert-and-claim.ts';
import { anyOverrides } from '../random-job.ts';
import { type Bench, idsOf, type OpenBench } from './bench.ts';

export function testInsertAndClaim(openAny: OpenBench): void {
  const open = async (skip: (why: string) => never): Promise<Bench> => {
    const bench = await openAny();
    // Whoever waits has looked before, and a store may have learned something by it.
    if (bench.store.insertAndClaim) await bench.claim({ queues: ['default', 'one', 'two', 'three'] });
    return bench.store.insertAndClaim ? bench : skip('the store would do no better than by two calls');
  };
  describe('insertAndClaim', () => {
    it('writes exactly what an insert and transition() say, for any job', async ({ skip }) => {
      const bench = await open(skip);
      let round = 0;
      await fc.assert(
        fc.asyncProperty(anyOverrides(), fc.integer({ min: 1, max: 600_000 }), async (overrides, leaseMs) => {
          const queue = `queue-${++round}`;
          const made = aJob({ ...overrides, queue });
          await bench.claim({ queues: [queue] });
          const request = bench.request({ queues: [queue], leaseMs, claimId: `claim-${round}`, workerId: 'w' });
          const { answer, claimed } = await insertAndClaim(bench.store, { jobs: [made] }, request);
          if (answer.status !== 'inserted') throw new Error(`Expected a new job, but: ${answer.status}.`);
          const [stored] = answer.jobs;
          const expected = transition(stored!, { do: 'claim', ...request }, request.now);
          expect(claimed).toEqual(expected ? [expected.job] : []);
          expect(await bench.read(stored!)).toEqual(expected?.job ?? stored);
          expect((await bench.eventsOf(stored!)).slice(made.events.length)).toEqual(expected?.events ?? []);
        }),
        { numRuns: 50 },
      );
    });

    it('gives what comes first by rank and not what is new, and tells of what is left', async ({ skip }) => {
      const bench = await open(skip);
      const urgent = await bench.add({ priority: 50 });
      const woken = new Promise<void>((resolve) => {
        const stop = bench.store.onWake(() => {
          stop();
          resolve();
        });
      });
      const made = bench.make();
      const { claimed } = await insertAndClaim(bench.store, { jobs: [made] }, bench.request({ limit: 1 }));
      expect(idsOf(claimed)).toEqual([urgent.id]);
      expect(await bench.read(made.job)).toMatchObject({ state: 'available' });
      await woken;
      expect(idsOf(await bench.claim())).toEqual([made.job.id]);
    });

    it('gives what was there beside what is new', async ({ skip }) => {
      const bench = await open(skip);
      const before = await bench.addMany(20);
      const made = bench.make();
      const { claimed } = await insertAndClaim(bench.store, { jobs: [made] }, bench.request({ limit: 30 }));
      expect(idsOf(claimed).sort()).toEqual([...idsOf(before), made.job.id].sort());
      expect(await bench.claim()).toEqual([]);
    });

    it('gives from any of the queues named, and from no other', async ({ skip }) => {
      const bench = await open(skip);
      const [second, elsewhere] = [bench.make({ queue: 'two' }), bench.make({ queue: 'three' })];
      const request = { queues: ['one', 'two'], limit: 5 };
      const first = await insertAndClaim(bench.store, { jobs: [second] }, bench.request(request));
      expect(idsOf(first.claimed)).toEqual([second.job.id]);
      const none = await insertAndClaim(bench.store, { jobs: [elsewhere] }, bench.request(request));
      expect(none).toMatchObject({ answer: { status: 'inserted' }, claimed: [] });
    });

    it('gives nothing of a paused queue, and no more than its limit allows', async ({ skip }) => {
      const bench = await open(skip);
      await bench.store.queues.setPaused('', 'paused', true);
      await bench.store.queues.setLimit('', 'narrow', { concurrency: 1, rate: null });
      const add = (queue: string) =>
        insertAndClaim(bench.store, { jobs: [bench.make({ queue })] }, bench.request({ queues: [queue] }));
      expect(await add('paused')).toMatchObject({ answer: { status: 'inserted' }, claimed: [] });
      expect((await add('narrow')).claimed).toHaveLength(1);
      expect(await add('narrow')).toMatchObject({ answer: { status: 'inserted' }, claimed: [] });
    });

    // fault: the same call is made again
    it('guarantee 10: made again, it answers that the job is there, and what the claim holds', async ({ skip }) => {
      const bench = await open(skip);
      const [group, request] = [{ jobs: [bench.make()] }, bench.request({ limit: 5 })];
      const first = await insertAndClaim(bench.store, group, request);
      const later = await bench.add();
      const again = await insertAndClaim(bench.store, group, request);
      expect(again.answer).toMatchObject({ status: 'exists', index: 0, job: { id: group.jobs[0]!.job.id } });
      expect(again.claimed).toEqual(first.claimed);
      expect(idsOf(await bench.claim())).toEqual([later.id]);
    });

    it('claims also where the insert is refused', async ({ skip }) => {
      const bench = await open(skip);
      const first = await bench.add({ idempotencyKey: 'k' });
      const made = bench.make({ idempotencyKey: 'k' });
      const { answer, claimed } = await insertAndClaim(bench.store, { jobs: [made] }, bench.request());
      expect(answer).toMatchObject({ status: 'repeated', job: { id: first.id } });
      expect(idsOf(claimed)).toEqual([first.id]);
    });

    it('keeps tenants apart', async ({ skip }) => {
      const bench = await open(skip);
      const made = bench.make({ tenant: 'acme' });
      const other = await insertAndClaim(bench.store, { jobs: [made] }, bench.request());
      expect(other).toMatchObject({ answer: { status: 'inserted' }, claimed: [] });
      expect(idsOf(await bench.claim({ tenant: 'acme' }))).toEqual([made.job.id]);
    });

    // fault: twenty calls at once
    it('guarantee 2: of many at once, each job goes to one claim', async ({ skip }) => {
      const bench = await open(skip);
      const calls = Array.from({ length: 20 }, () => bench.make());
      const answers = await Promise.all(
        calls.map((made) => insertAndClaim(bench.store, { jobs: [made] }, bench.request({ limit: 2 }))),
      );
      const given = answers.flatMap(({ claimed }) => idsOf(claimed));
      expect(new Set(given).size).toBe(given.length);
      const left = await bench.claim();
      expect([...given, ...idsOf(left)].sort()).toEqual(calls.map(({ job }) => job.id).sort());
    });
  });
}
