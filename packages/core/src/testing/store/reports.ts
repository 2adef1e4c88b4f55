import { describe, expect, it } from 'vitest';
import type { Job } from '../../job/job.ts';
import type { Report } from '../../job/progress.ts';
import type { ReportRequest } from '../../store/reports.ts';
import { type Bench, COMPLETED, FAILED, type OpenBench } from './bench.ts';

const LOST = { status: 'lost' };

async function report(bench: Bench, job: Job, told: Partial<Report>, overrides: Partial<ReportRequest> = {}) {
  const by = { run: job.run, claimId: job.claimId ?? 'none' };
  const { tenant, id } = job;
  const request = { tenant, id, by, report: { number: null, ...told }, now: bench.now, ...overrides };
  const [answer] = await bench.store.reports.add([request]);
  return answer!;
}

async function known(bench: Bench, { tenant, id }: Job) {
  const [progress] = await bench.store.reports.get([{ tenant, id }]);
  return progress!;
}

const told = async (bench: Bench, job: Job) =>
  (await bench.eventsOf(job)).filter(({ type }) => type === 'job.progress');

export function testReports(open: OpenBench): void {
  describe('reports', () => {
    it('keeps the newest that a run said of itself and tells it in the log', async () => {
      const bench = await open();
      const job = await bench.start({ tenant: 't', queue: 'q', type: 'a.b' });
      expect(await known(bench, job)).toBeNull();
      await report(bench, job, { fraction: 0.25, data: { rows: 1 } });
      await bench.clock.advance(1000);
      const answer = await report(bench, job, { fraction: 0.5, checkpoint: { at: 'row 2' } });
      const progress = {
        ...{ tenant: 't', id: job.id, run: 1, number: 2, sequence: 2, fraction: 0.5, at: bench.now },
        ...{ data: { rows: 1 }, checkpoint: { at: 'row 2' } },
      };
      expect(answer).toEqual({ status: 'noted', repeated: false, progress });
      expect(await known(bench, job)).toEqual(progress);
      const facts = { tenant: 't', jobId: job.id, jobType: 'a.b', queue: 'q', run: 1, attempt: 1, source: 'worker' };
      expect(await told(bench, job)).toEqual([
        { ...facts, type: 'job.progress', sequence: 1, at: bench.now - 1000, data: expect.anything() },
        { ...facts, type: 'job.progress', sequence: 2, at: bench.now, data: expect.anything() },
      ]);
      expect((await told(bench, job))[1]!.data).toMatchObject({ progress: 0.5, data: { rows: 1 } });
      expect(JSON.stringify(await told(bench, job))).not.toContain('row 2');
    });

    it('leaves the row as it is', async () => {
      const bench = await open();
      const job = await bench.start();
      await bench.clock.advance(1000);
      await report(bench, job, { fraction: 0.5 });
      expect(await bench.read(job)).toEqual(job);
    });

    it('never goes back within a run, and stays between 0 and 1', async () => {
      const bench = await open();
      const job = await bench.start();
      const seen: (number | null)[] = [];
      for (const fraction of [0.4, 0.1, -3, 7]) {
        await report(bench, job, { fraction });
        seen.push((await known(bench, job)).fraction);
      }
      expect(seen).toEqual([0.4, 0.4, 0.4, 1]);
    });

    // fault: the same call is made again
    it('guarantee 10: a report that is sent twice is told once', async () => {
      const bench = await open();
      const job = await bench.start();
      expect(await report(bench, job, { number: 1, fraction: 0.1 })).toMatchObject({ repeated: false });
      expect(await report(bench, job, { number: 3, fraction: 0.3 })).toMatchObject({ repeated: false });
      for (const number of [1, 2, 3]) {
        const again = await report(bench, job, { number, fraction: 0.9 });
        expect(again).toMatchObject({ status: 'noted', repeated: true, progress: { number: 3, fraction: 0.3 } });
      }
      expect((await told(bench, job)).map(({ sequence }) => sequence)).toEqual([1, 2]);
    });

    // fault: a forged token: another claim id, another run or another worker
    it('guarantee 3: only the run that holds the lease is heard', async () => {
      const bench = await open();
      const job = await bench.start();
      const heard = async (by: ReportRequest['by']) => (await report(bench, job, { fraction: 0.1 }, { by })).status;
      expect(await heard({ run: 1, claimId: 'forged' })).toBe('lost');
      expect(await heard({ run: 2, claimId: job.claimId! })).toBe('lost');
      expect(await heard({ workerId: 'worker-2' })).toBe('lost');
      expect(await known(bench, job)).toBeNull();
      expect(await told(bench, job)).toEqual([]);
      expect(await heard({ workerId: 'worker-1' })).toBe('noted');
      expect(await heard('anyone')).toBe('noted');
      await bench.settle(job, COMPLETED);
      const before = await known(bench, job);
      expect(await heard({ run: 1, claimId: job.claimId! })).toBe('lost');
      expect(await heard('anyone')).toBe('lost');
      expect(await report(bench, bench.make().job, { fraction: 1 }, { by: 'anyone' })).toEqual(LOST);
      expect(await known(bench, job)).toEqual(before);
    });

    it('a new run begins anew but for the checkpoint, and its events go on counting', async () => {
      const bench = await open();
      const first = await bench.start();
      await report(bench, first, { number: 1, fraction: 0.9, data: { rows: 9 }, checkpoint: { row: 9 } });
      await bench.settle(first, FAILED);
      await bench.clock.advance(86_400_000);
      await bench.sweep();
      const [second] = await bench.claim();
      expect(second).toMatchObject({ id: first.id, run: 2 });
      expect(await known(bench, first)).toMatchObject({ run: 1, fraction: 0.9, checkpoint: { row: 9 } });
      expect(await report(bench, first, { fraction: 1 })).toEqual(LOST);
      await report(bench, second!, { number: 1, fraction: 0.2 });
      const expected = { run: 2, number: 1, sequence: 2, fraction: 0.2, data: null, checkpoint: { row: 9 } };
      expect(await known(bench, first)).toMatchObject(expected);
      expect((await told(bench, first)).map(({ run, sequence }) => [run, sequence])).toEqual([
        [1, 1],
        [2, 2],
      ]);
    });

    it('answers several reports of one call in the order given', async () => {
      const bench = await open();
      const [a, b] = [await bench.start(), await bench.start()];
      const one = (job: Job, fraction: number): ReportRequest => ({
        tenant: '',
        id: job.id,
        by: { run: job.run, claimId: job === b ? 'forged' : job.claimId! },
        report: { number: null, fraction },
        now: bench.now,
      });
      const answers = await bench.store.reports.add([one(a, 0.1), one(b, 0.5), one(a, 0.2)]);
      expect(answers.map(({ status }) => status)).toEqual(['noted', 'lost', 'noted']);
      expect(await known(bench, a)).toMatchObject({ fraction: 0.2, number: 2 });
      const found = await bench.store.reports.get([b, a].map(({ tenant, id }) => ({ tenant, id })));
      expect(found).toMatchObject([null, { id: a.id }]);
    });
  });
}
