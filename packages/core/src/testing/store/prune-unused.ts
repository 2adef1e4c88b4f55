import { describe, expect, it } from 'vitest';
import type { Told } from '../../events/subject-event.ts';
import type { NewJob } from '../../store/insert.ts';
import type { PruneAnswer } from '../../store/prune.ts';
import { type Bench, COMPLETED, type OpenBench } from './bench.ts';

const DAY_MS = 86_400_000;
const RULE = { concurrency: 1, rate: null };
const SPEC = { args: [], meta: {}, options: { rate_limit: { key: 'k', concurrency: 1 } } };

/** Everything that was not used for 30 days goes; nothing else does. */
async function pruneUnused(bench: Bench, { limit = 100, eventsBefore = 0 } = {}): Promise<PruneAnswer> {
  const unusedBefore = bench.now - 30 * DAY_MS;
  return bench.store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore, unusedBefore, limit });
}

/** A store may learn of what it has only when it is asked to prune for the first time. */
async function pass(bench: Bench, days = 31): Promise<void> {
  await pruneUnused(bench);
  await bench.clock.advance(days * DAY_MS);
}

const limited = (bench: Bench, overrides = {}): NewJob => ({
  ...bench.make({ limitKey: 'k', spec: SPEC, ...overrides }),
  limit: RULE,
});

async function run(bench: Bench, queue = 'default'): Promise<void> {
  const [job] = await bench.claim({ queues: [queue] });
  await bench.settle(job!, COMPLETED);
}

/** A store may add what has ended to the totals of its queue a little later. */
async function count(bench: Bench): Promise<void> {
  await bench.clock.advance(60_000);
  await bench.sweep();
}

const queueNames = async (bench: Bench) => (await bench.store.queues.list('')).map(({ name }) => name);
const workerIds = async (bench: Bench) => (await bench.store.workers.list('')).map(({ id }) => id);
const beat = (bench: Bench, id: string, told?: Told) =>
  bench.store.workers.beat({ tenant: '', id, activeJobs: 0, now: bench.now, ...(told && { told }) });

/** A store that removes what is old in its own time has tests of its own for that. */
const exactly = async (open: OpenBench, skip: (note: string) => void): Promise<Bench> => {
  const bench = await open();
  if (bench.store.capabilities.prunesItself) skip('the store removes what is old in its own time');
  return bench;
};

export function testPruneUnused(open: OpenBench): void {
  describe('prune of what is no longer used', () => {
    it('A22: forgets workers that were not seen for so long, and knows those that come back', async ({ skip }) => {
      const bench = await exactly(open, skip);
      for (const id of ['a', 'b']) await beat(bench, id);
      await pass(bench, 29);
      await beat(bench, 'b');
      await bench.clock.advance(2 * DAY_MS);
      expect(await pruneUnused(bench)).toEqual({ jobs: 0, events: 0, more: false });
      expect(await workerIds(bench)).toEqual(['b']);
      await beat(bench, 'a');
      expect(await workerIds(bench)).toEqual(['a', 'b']);
    });

    it('B15: forgets a limit that came with a job, and not one that was set', async ({ skip }) => {
      const bench = await exactly(open, skip);
      await bench.limit({ concurrency: 3 }, { key: 'set' });
      await bench.insert(limited(bench));
      await run(bench);
      await pass(bench);
      await pruneUnused(bench);
      expect(await bench.store.limits.get('', 'k')).toBeNull();
      expect(await bench.store.limits.get('', 'set')).toMatchObject({ rule: { concurrency: 3 } });
    });

    it('B15: a limit that came with a job and was then set stays', async ({ skip }) => {
      const bench = await exactly(open, skip);
      await bench.insert(limited(bench));
      await run(bench);
      await bench.limit(RULE, { key: 'k' });
      await pass(bench);
      await pruneUnused(bench);
      expect(await bench.store.limits.get('', 'k')).toMatchObject({ rule: RULE });
    });

    it('B15: a limit that was used lately stays', async ({ skip }) => {
      const bench = await exactly(open, skip);
      await bench.insert(limited(bench));
      await run(bench);
      await pass(bench, 29);
      await bench.insert(limited(bench));
      await run(bench);
      await pass(bench, 29);
      await pruneUnused(bench);
      expect(await bench.store.limits.get('', 'k')).toMatchObject({ rule: RULE });
    });

    for (const [what, overrides] of [
      ['is scheduled', { scheduledAt: Date.UTC(2031, 0, 1) }],
      ['is pending', { state: 'pending' as const }],
      ['holds a slot', {}],
    ] as const) {
      // fault: the limit was not used for longer than the retention while a job of it waits
      it(`B15: guarantee 7: a limit stays while a job of it ${what}`, async ({ skip }) => {
        const bench = await exactly(open, skip);
        await bench.insert(limited(bench, overrides));
        await pass(bench);
        await pruneUnused(bench);
        expect(await bench.store.limits.get('', 'k')).toMatchObject({ rule: RULE });
      });
    }

    // fault: the limit of a finished job was removed before the job is run again
    it('B15: guarantee 7: a job that is run again brings its removed limit back', async () => {
      const bench = await open();
      const jobs = await bench.insert(limited(bench), limited(bench));
      await run(bench);
      await run(bench);
      await pass(bench);
      await pruneUnused(bench);
      if (!bench.store.capabilities.prunesItself) expect(await bench.store.limits.get('', 'k')).toBeNull();
      const left = (await Promise.all(jobs.map((job) => bench.find(job)))).filter((job) => job !== null);
      for (const job of left) await bench.command(job, { do: 'replay' });
      expect(await bench.claim()).toHaveLength(Math.min(1, left.length));
      if (left.length === 0) return;
      expect(await bench.store.limits.get('', 'k')).toMatchObject({ rule: RULE, holders: 1, parked: 1 });
    });

    it('A22: forgets a queue that was not used for so long, and lists it again with its next job', async ({ skip }) => {
      const bench = await exactly(open, skip);
      for (const queue of ['old', 'default']) await bench.add({ queue });
      await run(bench, 'old');
      await count(bench);
      await pass(bench, 29);
      await run(bench);
      await count(bench);
      await pruneUnused(bench);
      await bench.clock.advance(2 * DAY_MS);
      await pruneUnused(bench);
      expect(await queueNames(bench)).toEqual(['default']);
      expect(await bench.store.queues.stats('', 'old', { atMost: 9 })).toBeNull();
      await bench.add({ queue: 'old' });
      expect(await queueNames(bench)).toEqual(['default', 'old']);
      expect(await bench.store.queues.stats('', 'old', { atMost: 9 })).toMatchObject({ available: 1, completed: 0 });
    });

    it('A22: a queue with a setting or with jobs that can be claimed stays', async ({ skip }) => {
      const bench = await exactly(open, skip);
      const names = ['keeping', 'limited', 'paused', 'waiting'];
      for (const queue of names.slice(0, 3)) {
        await bench.add({ queue });
        await run(bench, queue);
      }
      await bench.add({ queue: 'waiting' });
      await bench.store.queues.setKeep('', 'keeping', 'none');
      await bench.store.queues.setLimit('', 'limited', RULE);
      await bench.store.queues.setPaused('', 'paused', true);
      await count(bench);
      await pass(bench);
      await pruneUnused(bench);
      expect(await queueNames(bench)).toEqual(names);
    });

    for (const [what, overrides] of [
      ['scheduled', { scheduledAt: Date.UTC(2030, 11, 1) }],
      ['pending', { state: 'pending' as const }],
    ] as const) {
      // fault: the queue of a job that still waits is removed, because the job cannot be found cheaply
      it(`A22: guarantee 1: a job that is ${what} runs and is counted, whether its queue was removed or not`, async () => {
        const bench = await open();
        const job = await bench.add({ queue: 'late', ...overrides });
        await pass(bench);
        await pass(bench);
        await pruneUnused(bench);
        if (what === 'pending') await bench.command(job, { do: 'activate' });
        await bench.clock.advance(365 * DAY_MS);
        await bench.sweep();
        await run(bench, 'late');
        await count(bench);
        expect(await queueNames(bench)).toContain('late');
        expect(await bench.store.queues.stats('', 'late', { atMost: 9 })).toMatchObject({ completed: 1, available: 0 });
      });
    }

    it('A22: the numbers of a subject go on while its events are kept, and its counter goes after them', async ({
      skip,
    }) => {
      const bench = await exactly(open, skip);
      const tell = async () => {
        const told: Told = { type: 'worker.started', tenant: '', subject: 'a', at: bench.now, data: {} };
        await beat(bench, 'a', told);
        return (await bench.log({ types: ['worker.started'] })).map(({ sequence }) => sequence);
      };
      expect(await tell()).toEqual([1]);
      await pass(bench);
      await pruneUnused(bench);
      expect(await tell()).toEqual([1, 2]);
      await pass(bench);
      // The first call removes the events, and only a later one the counter: it must not restart before they are gone.
      for (let calls = 0; calls < 3; calls++) await pruneUnused(bench, { eventsBefore: bench.now - 7 * DAY_MS });
      expect(await tell()).toEqual([1]);
    });

    it('A22: removes no more than the limit at once and says when more is left', async ({ skip }) => {
      const bench = await exactly(open, skip);
      for (const id of ['a', 'b', 'c']) await beat(bench, id);
      await pass(bench);
      expect(await pruneUnused(bench, { limit: 2 })).toMatchObject({ more: true });
      expect(await workerIds(bench)).toHaveLength(1);
      for (let more = true; more; ) ({ more } = await pruneUnused(bench, { limit: 2 }));
      expect(await workerIds(bench)).toEqual([]);
    });

    it('A22: without a time nothing that is unused goes', async () => {
      const bench = await open();
      await bench.add({ queue: 'old' });
      await run(bench, 'old');
      await bench.sweep();
      await bench.store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, limit: 100 });
      expect(await queueNames(bench)).toEqual(['old']);
    });
  });
}
