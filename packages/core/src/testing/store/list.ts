import { describe, expect, it } from 'vitest';
import type { Job } from '../../job/job.ts';
import { JOB_STATES } from '../../job/job.ts';
import type { JobFilter } from '../../store/query.ts';
import { type Bench, COMPLETED, DEAD, FAILED, idsOf, type OpenBench, sortedIds } from './bench.ts';

async function listAll(bench: Bench, filter: JobFilter, limit: number): Promise<Job[]> {
  const found: Job[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await bench.store.list({ filter, limit, ...(cursor === undefined ? {} : { cursor }) });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    found.push(...page.items);
    if (page.cursor === undefined) return found;
    // A cursor that stands still would be followed for ever.
    expect(page.cursor).not.toBe(cursor);
    cursor = page.cursor;
  }
}

const newestFirst = (jobs: readonly Job[]): string[] => sortedIds(jobs).reverse();

export function testList(open: OpenBench): void {
  describe('list', () => {
    it('answers whole rows, newest first by id', async () => {
      const bench = await open();
      const jobs: Job[] = [];
      for (let i = 0; i < 5; i++) {
        jobs.push(await bench.add());
        await bench.clock.advance(10);
      }
      const { items, cursor } = await bench.store.list({ filter: { tenant: '' }, limit: 10 });
      expect(items).toEqual(jobs.toReversed());
      expect(cursor).toBeUndefined();
    });

    it.each([1, 2, 3, 7, 100])('pages of %i give every job once', async (limit) => {
      const bench = await open();
      const jobs = await bench.addMany(7);
      expect(idsOf(await listAll(bench, { tenant: '' }, limit))).toEqual(newestFirst(jobs));
    });

    it('a cursor stays good while rows come, change and go', async () => {
      const bench = await open();
      const jobs = await bench.addMany(6);
      const first = await bench.store.list({ filter: { tenant: '' }, limit: 3 });
      await bench.clock.advance(10);
      await bench.add();
      await bench.command(jobs[5]!, { do: 'cancel' });
      await bench.outlive();
      await bench.store.prune({ finishedBefore: bench.now, deadBefore: 0, eventsBefore: 0, limit: 10 });
      const rest = await bench.store.list({ filter: { tenant: '' }, limit: 10, cursor: first.cursor! });
      expect([...idsOf(first.items), ...idsOf(rest.items)]).toEqual(newestFirst(jobs));
    });

    it('answers an empty last page without a cursor', async () => {
      const bench = await open();
      expect(await bench.store.list({ filter: { tenant: '' }, limit: 10 })).toEqual({ items: [] });
    });

    it.each(JOB_STATES)('filters by state %s', async (state) => {
      const bench = await open();
      const jobs = await bench.oneInEachState();
      expect(await listAll(bench, { tenant: '', states: [state] }, 10)).toEqual([jobs[state]]);
    });

    it('gives a job once, whichever states are asked for together', async () => {
      const bench = await open();
      const jobs = Object.values(await bench.oneInEachState());
      // Has an alarm although it is available: stores that look in several indexes may find it in two.
      jobs.push(await bench.add({ expiresAt: bench.now + 60_000 }));
      for (const one of JOB_STATES) {
        for (const two of JOB_STATES) {
          const found = await listAll(bench, { tenant: '', states: [one, two] }, 2);
          const wanted = jobs.filter(({ state }) => state === one || state === two);
          expect(idsOf(found), `${one}, ${two}`).toEqual(newestFirst(wanted));
        }
      }
    });

    it('filters by several states and queues at once, page by page', async () => {
      const bench = await open();
      await bench.oneInEachState();
      const wanted = [...(await bench.addMany(4, { queue: 'a' })), ...(await bench.addMany(3, { queue: 'b' }))];
      await bench.addMany(2, { queue: 'c' });
      await bench.add({ queue: 'a', state: 'pending' });
      const filter: JobFilter = { tenant: '', states: ['available', 'scheduled'], queues: ['a', 'b'] };
      expect(idsOf(await listAll(bench, filter, 2))).toEqual(newestFirst(wanted));
    });

    it('filters by every other field where the store can search', async ({ skip }) => {
      const bench = await open();
      if (!bench.store.capabilities.search) skip('the store cannot search');
      const early = await bench.start({ type: 'a.one', workflowId: 'flow-1', node: 'n' });
      await bench.settle(early, DEAD);
      await bench.clock.advance(1000);
      const late = await bench.start({ type: 'a.two' });
      await bench.settle(late, { ...FAILED, error: { ...FAILED.error, retryable: false } });
      const living = await bench.start({ type: 'a.three', workflowId: 'flow-2', node: 'n' });

      const between = bench.now - 500;
      const expected: [Partial<JobFilter>, Job[]][] = [
        [{ types: ['a.one', 'a.three'] }, [early, living]],
        [{ dead: true }, [early]],
        [{ dead: false }, [late, living]],
        [{ workflowId: 'flow-2' }, [living]],
        [{ errorType: 'boom' }, [early, late]],
        [{ errorType: 'BoomError' }, [late]],
        [{ createdAfter: between }, [late, living]],
        [{ createdBefore: between }, [early]],
        [{ finishedAfter: between }, [late]],
        [{ finishedBefore: between }, [early]],
        [{ dead: true, states: ['completed'] }, []],
      ];
      for (const [filter, jobs] of expected) {
        expect(idsOf(await listAll(bench, { tenant: '', ...filter }, 2)), JSON.stringify(filter)).toEqual(
          newestFirst(jobs),
        );
      }
    });

    it('D11: finds jobs by the first characters of their ids, with other filters, page by page', async () => {
      const bench = await open();
      const early = await bench.add({ queue: 'a' });
      await bench.clock.advance(100_000);
      const [one, two, three] = [await bench.add({ queue: 'a' }), await bench.add({ queue: 'b' }), await bench.start()];
      await bench.settle(three, { kind: 'completed', result: null });
      const running = await bench.start({ queue: 'a' });
      await bench.clock.advance(100_000);
      const late = await bench.add({ queue: 'a' });
      const found = async (filter: Partial<JobFilter>, limit = 10) =>
        idsOf(await listAll(bench, { tenant: '', ...filter }, limit));

      const shared = one.id.slice(0, 8);
      const wanted = newestFirst([one, two, three, running].filter(({ id }) => id.startsWith(shared)));
      expect(wanted).toHaveLength(4);
      expect([early, late].filter(({ id }) => id.startsWith(shared))).toEqual([]);
      expect(await found({ idPrefix: shared })).toEqual(wanted);
      expect(await found({ idPrefix: shared }, 1)).toEqual(wanted);
      expect(await found({ idPrefix: shared, queues: ['b'] })).toEqual([two.id]);
      expect(await found({ idPrefix: shared, states: ['completed'] })).toEqual([three.id]);
      for (const { id } of [early, one, three, running, late]) expect(await found({ idPrefix: id })).toEqual([id]);
      expect(await found({ idPrefix: early.id.slice(0, 13) })).toEqual([early.id]);
      expect(await found({ idPrefix: 'ffffffff-f' })).toEqual([]);
      expect(await found({ tenant: 'another', idPrefix: shared })).toEqual([]);
      expect(await bench.store.count({ tenant: '', idPrefix: shared }, { atMost: 10 })).toBe(4);
    });

    it('looks at the newest error only', async ({ skip }) => {
      const bench = await open();
      if (!bench.store.capabilities.search) skip('the store cannot search');
      const job = await bench.start();
      await bench.settle(job, FAILED);
      await bench.clock.advance(10_000);
      await bench.sweep();
      const [again] = await bench.claim();
      await bench.settle(again!, { kind: 'failed', error: { code: 'other', message: 'Differently.' } });
      expect(await listAll(bench, { tenant: '', errorType: 'boom' }, 10)).toEqual([]);
      expect(idsOf(await listAll(bench, { tenant: '', errorType: 'other' }, 10))).toEqual([job.id]);
    });

    it('shows a row as it is now, not as it was listed before', async () => {
      const bench = await open();
      const job = await bench.start();
      await bench.settle(job, COMPLETED);
      const { items } = await bench.store.list({ filter: { tenant: '' }, limit: 1 });
      expect(items).toEqual([await bench.read(job)]);
      expect(items[0]).toMatchObject({ state: 'completed', result: { ok: true } });
    });
  });
}
