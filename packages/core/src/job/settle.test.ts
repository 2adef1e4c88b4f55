import { describe, expect, it } from 'vitest';
import { aJobIn, type JobOverrides } from '../testing/factories.ts';
import { TEST_EPOCH as NOW } from '../testing/test-clock.ts';
import { chanceOf } from './jitter.ts';
import { type Job, type JobError, MAX_ERRORS_KEPT } from './job.ts';
import type { Outcome } from './outcome.ts';
import { rankOf, seqAt } from './rank.ts';
import type { RetryOptions } from './retry-policy.ts';
import { settle } from './settle.ts';

const error = { code: 'boom', message: 'It broke.', type: 'BoomError', details: { big: true } };
const LATER = NOW + 500;

const active = (retry: RetryOptions = {}, overrides: JobOverrides = {}): Job =>
  aJobIn('active', { spec: { args: [], meta: {}, retry }, ...overrides });

const typesOf = (job: Job, outcome: Outcome): string[] => settle(job, outcome, LATER).events.map(({ type }) => type);

describe('settle', () => {
  it('completed: keeps the result and tells how long it took', () => {
    const next = settle(active(), { kind: 'completed', result: { n: 1 } }, LATER);
    expect(next.job).toMatchObject({ state: 'completed', result: { n: 1 }, finishedAt: LATER, leaseUntil: null });
    expect(next.events).toMatchObject([{ type: 'job.completed', data: { duration_ms: 500 } }]);
  });

  it('failed: waits as long as the policy says, with the error on record', () => {
    const job = active({ jitter: false, initial_interval: 'PT4S' }, { limitKey: 'k', holdsSlot: true });
    const next = settle(job, { kind: 'failed', error }, LATER);
    const due = LATER + 4000;
    expect(next.job).toMatchObject({ state: 'retryable', outcome: 'failed', scheduledAt: due, nextAt: due });
    expect(next.job).toMatchObject({ retryDelayMs: 4000, seq: seqAt(due, job.seq), holdsSlot: false, attempt: 1 });
    expect(next.job.errors).toEqual([{ ...error, attempt: 1, run: 1, occurredAt: LATER }]);
    expect(next.events).toMatchObject([
      { type: 'job.failed', data: { error: { code: 'boom', message: 'It broke.', type: 'BoomError' } } },
      { type: 'job.retrying', data: { next_retry_at: new Date(due).toISOString(), delay_ms: 4000, max_attempts: 3 } },
    ]);
  });

  it.each([
    ['longer than the policy', 60_000, 60_000],
    ['shorter than the policy', 100, 4_000],
    ['beyond a day', 1e12, 24 * 60 * 60_000],
    ['not a number', Number.NaN, 4_000],
    ['before now', -5, 4_000],
  ])('failed: a delay that a service asked for, %s', (_, retryAfterMs, delay) => {
    const job = active({ jitter: false, initial_interval: 'PT4S', max_interval: 'PT10S' });
    const next = settle(job, { kind: 'failed', error: { ...error, retryAfterMs } }, LATER);
    expect(next.job).toMatchObject({ state: 'retryable', scheduledAt: LATER + delay, retryDelayMs: delay });
    expect(next.job.errors[0]).not.toHaveProperty('retryAfterMs');
  });

  it.each([
    ['DISCARD', { on_exhaustion: 'dead_letter' }, false],
    ['FAIL', { on_exhaustion: 'dead_letter' }, false],
    ['DEAD_LETTER', { on_exhaustion: 'discard' }, true],
  ] as const)('C8: the code %s ends the job, whatever the policy says', (code, policy, dead) => {
    const next = settle(
      active({ max_attempts: 9, ...policy }),
      { kind: 'failed', error: { code, message: 'x' } },
      LATER,
    );
    expect(next.job).toMatchObject({ state: 'discarded', outcome: 'failed', dead });
    expect(next.events).toMatchObject([
      { type: 'job.failed', data: { error: { code, retryable: false } } },
      { type: 'job.discarded', data: { dead_letter: dead } },
    ]);
  });

  it('C8: the code RETRY leaves it to the policy', () => {
    const failed = { kind: 'failed', error: { code: 'RETRY', message: 'x' } } as const;
    expect(settle(active(), failed, LATER).job.state).toBe('retryable');
    expect(settle(active({ max_attempts: 1 }), failed, LATER).job.state).toBe('discarded');
  });

  it('C8: events say whether the error may be tried again, and a retry says why there is one', () => {
    const again = settle(active(), { kind: 'failed', error }, LATER).events;
    expect(again).toMatchObject([
      { type: 'job.failed', data: { error: { code: 'boom', retryable: true } } },
      { type: 'job.retrying', data: { error: { code: 'boom', message: 'It broke.' } } },
    ]);
    const spent = settle(active({ max_attempts: 1 }), { kind: 'failed', error }, LATER).events;
    expect(spent[0]).toMatchObject({ type: 'job.failed', data: { error: { retryable: true } } });
  });

  it.each([
    ['trace_id', { trace_id: 'abc123' }, 'abc123'],
    [
      'traceparent',
      { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
      /^4bf92f3577b34da6a3ce929d0e0e4736$/,
    ],
  ])('C8: events name the trace of %s in the job’s meta', (_, meta, expected) => {
    const job = active({}, { spec: { args: [], meta } });
    const [event] = settle(job, { kind: 'completed', result: null }, LATER).events;
    expect(event!.data['trace_id']).toMatch(expected);
    expect(settle(active(), { kind: 'completed', result: null }, LATER).events[0]!.data).not.toHaveProperty('trace_id');
  });

  it('failed: events tell which error and not its details', () => {
    const { events } = settle(active(), { kind: 'failed', error }, LATER);
    expect(JSON.stringify(events)).not.toContain('details');
  });

  it('failed: details too large for a row are replaced by their length', () => {
    const details = 'x'.repeat(8_191);
    const next = settle(active(), { kind: 'failed', error: { ...error, details } }, LATER);
    expect(next.job.errors[0]!.details).toEqual({ truncated: true, length: 8_193 });
  });

  it('failed: two servers compute the same jitter for one run', () => {
    const job = active();
    const delay = settle(job, { kind: 'failed', error }, LATER).job.retryDelayMs;
    expect(delay).toBe(Math.round(1000 * (0.5 + chanceOf(job.id, job.run))));
  });

  it.each([
    ['the attempts are used up', { max_attempts: 1 }, error],
    ['no attempt was allowed', { max_attempts: 0 }, error],
    ['the worker says it is final', {}, { ...error, retryable: false }],
    ['the policy says it is final', { non_retryable_errors: ['BoomError'] }, error],
  ])('failed: gives up when %s', (_, retry, failure) => {
    const next = settle(active(retry), { kind: 'failed', error: failure }, LATER);
    expect(next.job).toMatchObject({ state: 'discarded', outcome: 'failed', dead: false, nextAt: null });
    expect(next.events).toMatchObject([
      { type: 'job.failed' },
      { type: 'job.discarded', data: { total_attempts: 1, dead_letter: false, last_error: { code: 'boom' } } },
    ]);
  });

  it.each([
    ['dead_letter', undefined, true],
    ['discard', undefined, false],
    ['dead_letter', false, false],
    ['discard', true, true],
  ] as const)('discarded: policy %s, worker says %s, kept: %s', (on_exhaustion, deadLetter, dead) => {
    const outcome: Outcome = { kind: 'discarded', error, ...(deadLetter === undefined ? {} : { deadLetter }) };
    expect(settle(active({ on_exhaustion }), outcome, LATER).job).toMatchObject({ state: 'discarded', dead });
  });

  it('failed for good: kept as a dead letter when the policy says so', () => {
    const job = active({ max_attempts: 1, on_exhaustion: 'dead_letter' });
    expect(settle(job, { kind: 'failed', error }, LATER).job.dead).toBe(true);
  });

  it('snoozed: neither a failure nor an attempt', () => {
    const job = active({}, { limitKey: 'k', holdsSlot: true });
    const next = settle(job, { kind: 'snoozed', until: LATER + 1000 }, LATER);
    expect(next.job).toMatchObject({ state: 'retryable', attempt: 0, run: 1, errors: [], holdsSlot: false });
    expect(next.job).toMatchObject({ scheduledAt: LATER + 1000, seq: seqAt(LATER + 1000, job.seq) });
    expect(settle(job, { kind: 'snoozed', until: 0 }, LATER).job.scheduledAt).toBe(LATER);
  });

  describe('snoozed for a reason', () => {
    const unknown = { code: 'unknown_type', message: "Worker w has no task 'mail.sned'.", details: { worker: 'w' } };
    /** The job as the next claim finds it. */
    const claimedAgain = (job: Job): Job => ({ ...job, state: 'active', run: job.run + 1, attempt: job.attempt + 1 });

    it('D10: keeps the attempt, with the reason on the row and in the event', () => {
      const job = active({}, { limitKey: 'k', holdsSlot: true });
      const next = settle(job, { kind: 'snoozed', error: unknown }, LATER);
      const until = LATER + 5_000;
      expect(next.job).toMatchObject({ state: 'retryable', outcome: 'snoozed', attempt: 0, run: 1, holdsSlot: false });
      expect(next.job).toMatchObject({ scheduledAt: until, nextAt: until, seq: seqAt(until, job.seq) });
      expect(next.job.errors).toEqual([{ ...unknown, attempt: 1, run: 1, occurredAt: LATER }]);
      const { code, message } = unknown;
      const data = { until: new Date(until).toISOString(), error: { code, message } };
      expect(next.events).toMatchObject([{ type: 'job.snoozed', data }]);
    });

    it('D10: waits twice as long each time in a row, up to an hour, and keeps one entry for all of them', () => {
      let job = active({}, { errors: [{ ...error, attempt: 1, run: 0, occurredAt: NOW }] });
      const pauses: number[] = [];
      for (let run = 0; run < 14; run += 1) {
        const next = settle(job, { kind: 'snoozed', error: unknown }, LATER).job;
        pauses.push(next.scheduledAt! - LATER);
        job = claimedAgain(next);
      }
      const doubled = [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600, 3_600, 3_600];
      expect(pauses).toEqual(doubled.map((seconds) => seconds * 1_000));
      expect(job.errors.map(({ code, run }) => [code, run])).toEqual([
        ['boom', 0],
        ['unknown_type', 14],
      ]);
      expect(job.attempt).toBe(1);
    });

    it('D10: begins anew after a run that was another worker’s', () => {
      const first = settle(active(), { kind: 'snoozed', error: unknown }, LATER).job;
      const second = settle(claimedAgain(first), { kind: 'snoozed', error: unknown }, LATER).job;
      expect(second.retryDelayMs).toBe(10_000);
      const snoozed = settle(claimedAgain(second), { kind: 'snoozed', until: LATER }, LATER).job;
      const failed = settle(claimedAgain(second), { kind: 'failed', error }, LATER).job;
      for (const other of [snoozed, failed])
        expect(settle(claimedAgain(other), { kind: 'snoozed', error: unknown }, LATER).job.retryDelayMs).toBe(5_000);
    });

    it('D10: never pauses for less than 5 s, whatever pause the row had', () => {
      const before = { code: 'unknown_type', message: '', attempt: 1, run: 0, occurredAt: NOW };
      const job = active({}, { errors: [before], retryDelayMs: 0 });
      expect(settle(job, { kind: 'snoozed', error: unknown }, LATER).job.retryDelayMs).toBe(5_000);
    });
  });

  it('requeued: keeps its place and its attempt, but another start needs another slot', () => {
    const job = active({}, { limitKey: 'k', holdsSlot: true, priority: 3 });
    const next = settle(job, { kind: 'requeued', error }, LATER);
    expect(next.job).toMatchObject({
      state: 'available',
      attempt: 0,
      run: 1,
      holdsSlot: false,
      rank: null,
      enqueuedAt: LATER,
    });
    const free = settle(active({}, { priority: 3 }), { kind: 'requeued', error }, LATER);
    expect(free.job.rank).toBe(rankOf(3, free.job.seq));
    expect(next.events).toMatchObject([{ type: 'job.requeued', data: { reason: 'It broke.' } }]);
  });

  it('cancelled: tells the reason', () => {
    const next = settle(active(), { kind: 'cancelled', reason: 'why not' }, LATER);
    expect(next.events).toMatchObject([{ type: 'job.cancelled', data: { reason: 'why not' } }]);
  });

  // fault: none, the rule itself
  it('guarantee 4: an end is told by exactly one terminal event, and a wait by none', () => {
    expect(typesOf(active(), { kind: 'completed', result: null })).toEqual(['job.completed']);
    expect(typesOf(active(), { kind: 'discarded', error })).toEqual(['job.failed', 'job.discarded']);
    expect(typesOf(active(), { kind: 'failed', error })).toEqual(['job.failed', 'job.retrying']);
    expect(typesOf(active(), { kind: 'snoozed', until: LATER })).toEqual(['job.snoozed']);
    expect(typesOf(active(), { kind: 'requeued' })).toEqual(['job.requeued']);
  });

  it('keeps the newest errors only', () => {
    const old: JobError = { code: 'old', message: '', attempt: 1, run: 1, occurredAt: NOW };
    const errors = Array.from({ length: MAX_ERRORS_KEPT }, (_, run) => ({ ...old, run }));
    const kept = settle(active({}, { errors }), { kind: 'failed', error }, LATER).job.errors;
    expect(kept).toHaveLength(MAX_ERRORS_KEPT);
    expect(kept[0]!.run).toBe(1);
    expect(kept.at(-1)!.code).toBe('boom');
  });
});
