import { describe, expect, it } from 'vitest';
import { isJobId } from '../job/id.ts';
import { JOB_STATES } from '../job/job.ts';
import { nextAtFor } from '../job/next-at.ts';
import { rankFor, rankOf } from '../job/rank.ts';
import { aJob, aJobIn, jobIdAt, someJobs } from './factories.ts';
import { TEST_EPOCH } from './test-clock.ts';

describe('factories', () => {
  it('a job is available, with the event that tells of it', () => {
    const { job, events } = aJob({ priority: 5, queue: 'mail' });
    expect(job).toMatchObject({ state: 'available', version: 1, run: 0, nextAt: null, enqueuedAt: TEST_EPOCH });
    expect(job.rank).toBe(rankOf(5, job.seq));
    expect(events).toMatchObject([{ type: 'job.enqueued', jobId: job.id, queue: 'mail', sequence: 1, at: TEST_EPOCH }]);
  });

  it('a job with a time is scheduled, and a pending one waits', () => {
    const scheduled = aJob({ scheduledAt: TEST_EPOCH + 5000 });
    expect(scheduled.job).toMatchObject({
      state: 'scheduled',
      rank: null,
      nextAt: TEST_EPOCH + 5000,
      enqueuedAt: null,
    });
    expect(scheduled.events.map((event) => event.type)).toEqual(['job.scheduled']);
    expect(aJob({ state: 'pending' }).events.map((event) => event.type)).toEqual(['job.pending']);
  });

  it('a job with a limit is parked', () => {
    expect(aJob({ limitKey: 'k' }).job).toMatchObject({ rank: null, holdsSlot: false });
  });

  it('attempts follow the retry policy unless told otherwise', () => {
    const spec = { args: [], meta: {}, retry: { max_attempts: 7 } };
    expect(aJob({ spec }).job.maxAttempts).toBe(7);
    expect(aJob({ spec, maxAttempts: 2 }).job.maxAttempts).toBe(2);
  });

  it('refuses a state in which no job begins', () => {
    expect(() => aJob({ state: 'active' })).toThrow(/does not begin its life active/);
  });

  it.each(JOB_STATES)('makes a row that is %s, with what is derived derived', (state) => {
    const job = aJobIn(state);
    expect(job.state).toBe(state);
    expect([job.rank, job.nextAt]).toEqual([rankFor(job), nextAtFor(job)]);
  });

  it('ids and places rise in the order of making', () => {
    const jobs = someJobs(20).map(({ job }) => job);
    expect(jobs.every(({ id }) => isJobId(id))).toBe(true);
    expect(jobs.map(({ id }) => id).toSorted()).toEqual(jobs.map(({ id }) => id));
    expect(jobs.map(({ rank }) => rank!).toSorted()).toEqual(jobs.map(({ rank }) => rank!));
    expect(jobIdAt(1, 2 ** 40) < jobIdAt(2, 0)).toBe(true);
  });
});
