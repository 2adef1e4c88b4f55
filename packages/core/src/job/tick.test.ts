import { describe, expect, it } from 'vitest';
import { aJobIn } from '../testing/factories.ts';
import { TEST_EPOCH as NOW } from '../testing/test-clock.ts';
import { rankOf } from './rank.ts';
import { tick } from './tick.ts';

describe('tick', () => {
  it('a schedule that has come makes the job available, in line by the time it was due', () => {
    const job = aJobIn('scheduled', { scheduledAt: NOW + 1000, priority: 2 });
    expect(tick(job, NOW + 999)).toBeNull();
    const next = tick(job, NOW + 5000)!;
    expect(next.job).toMatchObject({ state: 'available', enqueuedAt: NOW + 5000, scheduledAt: null, seq: job.seq });
    expect(next.job.rank).toBe(rankOf(2, job.seq));
    expect(next.events.map((event) => event.type)).toEqual(['job.enqueued']);
  });

  it('a job due earlier stands before one due later, whoever is looked at first', () => {
    const late = tick(aJobIn('scheduled', { scheduledAt: NOW + 2000, seq: 1 }), NOW + 9000)!.job;
    const early = tick(aJobIn('scheduled', { scheduledAt: NOW + 1000, seq: 2 }), NOW + 9000)!.job;
    expect(early.rank! < late.rank!).toBe(true);
  });

  it('a job with a limit comes back parked', () => {
    const job = aJobIn('scheduled', { scheduledAt: NOW, limitKey: 'k' });
    expect(tick(job, NOW)!.job).toMatchObject({ state: 'available', rank: null, holdsSlot: false });
  });

  // fault: the worker falls silent and its lease runs out
  it('guarantee 11: a lease that ran out puts the job back at once, with the attempt spent', () => {
    const job = aJobIn('active', { limitKey: 'k', holdsSlot: true });
    expect(tick(job, NOW + 29_999)).toBeNull();
    const next = tick(job, NOW + 30_000)!;
    expect(next.job).toMatchObject({ state: 'available', outcome: 'lost', attempt: 1, leaseUntil: null });
    expect(next.job).toMatchObject({ seq: job.seq, holdsSlot: false, errors: [{ code: 'visibility_timeout' }] });
    expect(next.events).toMatchObject([
      { type: 'job.lease_expired', data: { worker_id: 'worker-1' } },
      { type: 'job.enqueued' },
    ]);
  });

  it('a lease that ran out on the last attempt ends the job', () => {
    const next = tick(aJobIn('active', { maxAttempts: 1 }), NOW + 30_000)!;
    expect(next.job).toMatchObject({ state: 'discarded', outcome: 'lost', nextAt: null });
    expect(next.events.map((event) => event.type)).toEqual(['job.lease_expired', 'job.discarded']);
  });

  it('an execution timeout is a failed run, whatever the lease says', () => {
    const job = aJobIn('active', { timeoutMs: 2000 });
    expect(tick(job, NOW + 1999)).toBeNull();
    const next = tick(job, NOW + 2000)!;
    expect(next.job).toMatchObject({ state: 'retryable', outcome: 'timed_out', errors: [{ code: 'timeout' }] });
    expect(next.events.map((event) => event.type)).toEqual(['job.failed', 'job.retrying']);
    expect(tick(aJobIn('active', { timeoutMs: 2000 }), NOW + 60_000)!.job.outcome).toBe('timed_out');
  });

  it('expiry comes before the schedule', () => {
    const job = aJobIn('scheduled', { scheduledAt: NOW + 1000, expiresAt: NOW + 1000 });
    expect(tick(job, NOW + 1000)!.job).toMatchObject({ state: 'discarded', outcome: 'expired' });
  });
});
