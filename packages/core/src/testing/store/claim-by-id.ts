import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JOB_STATES } from '../../job/job.ts';
import { transition } from '../../job/transition.ts';
import { aJob } from '../factories.ts';
import { anyOverrides } from '../random-job.ts';
import type { OpenBench } from './bench.ts';

export function testClaimById(open: OpenBench): void {
  describe('claimById', () => {
    it('writes exactly what transition() says, for any job', async () => {
      const bench = await open();
      await fc.assert(
        fc.asyncProperty(anyOverrides(), async (overrides) => {
          const { job, events } = aJob(overrides);
          await bench.insert({ job, events });
          const request = bench.requestById([job.id]);
          const expected = transition(job, { do: 'claim', ...request }, request.now);
          const [answer] = await bench.store.claimById(request);
          expect(answer).toEqual(expected ? { status: 'claimed', job: expected.job } : { status: 'not_due' });
          expect((await bench.eventsOf(job)).slice(1)).toEqual(expected?.events ?? []);
        }),
        { numRuns: 20 },
      );
    });

    it('says why a job is not given', async () => {
      const bench = await open();
      const jobs = await bench.oneInEachState();
      await bench.store.queues.setPaused('', 'asleep', true);
      const extra = {
        parked: await bench.addParked(),
        paused: await bench.add({ queue: 'asleep' }),
        parkedAndPaused: await bench.addParked({ queue: 'asleep' }),
        unknown: bench.make().job,
      };
      const ids = [...JOB_STATES.map((state) => jobs[state].id), ...Object.values(extra).map((job) => job.id)];
      const answers = await bench.store.claimById(bench.requestById(ids));
      expect(answers.map((answer) => answer.status)).toEqual([
        'not_due', // scheduled
        'claimed', // available
        'not_due', // pending
        'held', // active
        'finished', // completed
        'not_due', // retryable
        'finished', // cancelled
        'finished', // discarded
        'parked',
        'paused',
        'parked',
        'unknown',
      ]);
    });

    // fault: a hint names a job of another queue
    it('B9: gives no job of a queue that was not asked for, and leaves it to those who ask', async () => {
      const bench = await open();
      await bench.store.queues.setPaused('', 'asleep', true);
      const jobs = [
        await bench.add({ queue: 'mine' }),
        await bench.add({ queue: 'theirs' }),
        await bench.add({ queue: 'asleep' }),
        await bench.addParked({ queue: 'theirs' }),
      ];
      const ids = jobs.map(({ id }) => id);
      const statusesFor = async (...queues: string[]) =>
        (await bench.store.claimById(bench.requestById([...ids, bench.make().job.id], { queues }))).map(
          ({ status }) => status,
        );
      expect(await statusesFor()).toEqual(['elsewhere', 'elsewhere', 'elsewhere', 'elsewhere', 'unknown']);
      expect(await statusesFor('mine', 'other')).toEqual(['claimed', 'elsewhere', 'elsewhere', 'elsewhere', 'unknown']);
      expect(await bench.read(jobs[1]!)).toMatchObject({ state: 'available', run: 0 });
      expect(await statusesFor('theirs', 'asleep')).toEqual(['held', 'claimed', 'paused', 'parked', 'unknown']);
    });

    // fault: the same call is made again
    it('guarantee 10: the same claim id answers the same job, another finds it held', async () => {
      const bench = await open();
      const { id } = await bench.add();
      const request = bench.requestById([id]);
      const [first] = await bench.store.claimById(request);
      await bench.clock.advance(1000);
      expect(await bench.store.claimById({ ...request, now: bench.now })).toEqual([first]);
      expect(await bench.store.claimById(bench.requestById([id]))).toEqual([{ status: 'held' }]);
    });

    // fault: twenty calls at once
    it('guarantee 5: a hint delivered twenty times at once starts one run', async () => {
      const bench = await open();
      const job = await bench.add();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => bench.store.claimById(bench.requestById([job.id]))),
      );
      const statuses = answers.flat().map((answer) => answer.status);
      expect(statuses.filter((status) => status === 'claimed')).toHaveLength(1);
      expect(statuses.filter((status) => status === 'held')).toHaveLength(19);
      expect(await bench.read(job)).toMatchObject({ state: 'active', run: 1, attempt: 1 });
    });

    // fault: none, the rule itself
    it('guarantee 2: a job claimed by id is not given by claim, nor the other way round', async () => {
      const bench = await open();
      const started = await bench.start();
      const waiting = await bench.add();
      const claimed = await bench.claim();
      expect(claimed.map((job) => job.id)).toEqual([waiting.id]);
      const [a, b] = await bench.store.claimById(bench.requestById([started.id, waiting.id]));
      expect([a, b]).toEqual([{ status: 'held' }, { status: 'held' }]);
    });
  });
}
