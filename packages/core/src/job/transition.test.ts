import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aJobIn, type JobOverrides } from '../testing/factories.ts';
import { TEST_EPOCH as NOW } from '../testing/test-clock.ts';
import { JOB_STATES, type JobState } from './job.ts';
import type { Outcome } from './outcome.ts';
import { rankOf } from './rank.ts';
import { type Command, transition } from './transition.ts';

const CLAIM: Command = { do: 'claim', claimId: 'c', workerId: 'w', leaseMs: 30_000 };
const error = { code: 'boom', message: 'It broke.' };
const settle = (outcome: Outcome): Command => ({ do: 'settle', outcome });
const LATER = NOW + 1_000_000;

/** Where each command leads from each state; what is not named is refused. */
const LEADS_TO: [name: string, command: Command, now: number, to: Partial<Record<JobState, JobState>>][] = [
  ['claim', CLAIM, NOW, { available: 'active' }],
  ['extend', { do: 'extend', leaseMs: null }, NOW, { active: 'active' }],
  ['settle completed', settle({ kind: 'completed', result: 1 }), NOW, { active: 'completed' }],
  ['settle failed', settle({ kind: 'failed', error }), NOW, { active: 'retryable' }],
  ['settle snoozed', settle({ kind: 'snoozed', until: LATER }), NOW, { active: 'retryable' }],
  ['settle snoozed for a reason', settle({ kind: 'snoozed', error }), NOW, { active: 'retryable' }],
  ['settle requeued', settle({ kind: 'requeued' }), NOW, { active: 'available' }],
  ['settle cancelled', settle({ kind: 'cancelled' }), NOW, { active: 'cancelled' }],
  ['settle discarded', settle({ kind: 'discarded', error }), NOW, { active: 'discarded' }],
  [
    'cancel',
    { do: 'cancel' },
    NOW,
    {
      scheduled: 'cancelled',
      available: 'cancelled',
      pending: 'cancelled',
      active: 'cancelled',
      retryable: 'cancelled',
    },
  ],
  ['activate', { do: 'activate' }, NOW, { pending: 'available' }],
  [
    'give up, while a lease holds',
    { do: 'give_up', error },
    NOW,
    { scheduled: 'discarded', available: 'discarded', pending: 'discarded', retryable: 'discarded' },
  ],
  [
    'give up, when every lease has ended',
    { do: 'give_up', error },
    LATER,
    {
      ...{ scheduled: 'discarded', available: 'discarded', pending: 'discarded', retryable: 'discarded' },
      active: 'discarded',
    },
  ],
  ['replay', { do: 'replay' }, NOW, { completed: 'available', cancelled: 'available', discarded: 'available' }],
  ['forget', { do: 'forget' }, NOW, {}],
  // A run that is under way keeps its version, which its worker counts on.
  ['put off', { do: 'put_off', until: LATER, reason: 'no' }, NOW, { scheduled: 'scheduled', retryable: 'retryable' }],
  ['tick before anything is due', { do: 'tick' }, NOW, {}],
  [
    'tick when everything is due',
    { do: 'tick' },
    LATER,
    { scheduled: 'available', retryable: 'available', active: 'available' },
  ],
];

const MATRIX = LEADS_TO.flatMap(([name, command, now, to]) =>
  JOB_STATES.map((state) => [name, state, to[state] ?? 'refused', command, now] as const),
);

describe('transition', () => {
  it.each(MATRIX)('%s: %s -> %s', (_, state, expected, command, now) => {
    expect(transition(aJobIn(state), command, now)?.job.state ?? 'refused').toBe(expected);
  });

  it('put off: the row is looked at later, and its event says why', () => {
    const { job, events } = transition(aJobIn('scheduled'), { do: 'put_off', until: LATER, reason: 'no' }, NOW)!;
    expect(job).toMatchObject({ state: 'scheduled', nextAt: LATER });
    expect(events).toMatchObject([{ type: 'job.maintenance_failed', sequence: job.version, data: { reason: 'no' } }]);
    expect(transition(job, { do: 'tick' }, LATER)!.job).toMatchObject({ state: 'available' });
  });

  it.each(['scheduled', 'available', 'retryable'] as const)('tick: an expired job that is %s is discarded', (state) => {
    const next = transition(aJobIn(state, { expiresAt: NOW + 1000 }), { do: 'tick' }, NOW + 1000)!;
    expect(next.job).toMatchObject({ state: 'discarded', outcome: 'expired', dead: false, nextAt: null });
    const data = { expired_at: '2030-01-01T00:00:01.000Z', ttl_ms: 1000 };
    expect(next.events).toMatchObject([{ type: 'job.expired', data }]);
  });

  it.each(['pending', 'active', 'completed', 'cancelled', 'discarded'] as const)(
    'tick: a job that is %s does not expire',
    (state) => {
      const next = transition(aJobIn(state, { expiresAt: NOW + 1000 }), { do: 'tick' }, NOW + 1000);
      expect(next).toBeNull();
    },
  );
});

describe('claim', () => {
  it('opens a run with a lease and tells who has it', () => {
    const job = aJobIn('available', { timeoutMs: 5000, attempt: 1, run: 4 });
    const next = transition(job, CLAIM, NOW + 7)!;
    expect(next.job).toEqual({
      ...job,
      state: 'active',
      rank: null,
      nextAt: NOW + 5007,
      version: 2,
      run: 5,
      attempt: 2,
      claimId: 'c',
      workerId: 'w',
      leaseMs: 30_000,
      leaseUntil: NOW + 30_007,
      timeoutAt: NOW + 5007,
      startedAt: NOW + 7,
    });
    const told = { type: 'job.started', run: 5, attempt: 2, sequence: 2, at: NOW + 7, source: 'server' };
    expect(next.events).toEqual([expect.objectContaining({ ...told, data: { worker_id: 'w' } })]);
  });

  it('gives the lease that the job asks for, where it asks', () => {
    const next = transition(aJobIn('available', { visibilityMs: 100 }), CLAIM, NOW)!;
    expect(next.job).toMatchObject({ leaseMs: 100, leaseUntil: NOW + 100 });
  });

  it('refuses a parked job and an expired one', () => {
    expect(transition(aJobIn('available', { limitKey: 'k' }), CLAIM, NOW)).toBeNull();
    expect(transition(aJobIn('available', { limitKey: 'k', holdsSlot: true }), CLAIM, NOW)).not.toBeNull();
    expect(transition(aJobIn('available', { expiresAt: NOW }), CLAIM, NOW)).toBeNull();
    expect(transition(aJobIn('available', { expiresAt: NOW + 1 }), CLAIM, NOW)).not.toBeNull();
  });
});

describe('extend', () => {
  it.each([
    ['by the length granted', null, {}, 40_000],
    ['by the length asked for', 50_000, {}, 60_000],
    ['never to an earlier moment', 5_000, {}, 30_000],
    ['up to the execution timeout', 90_000, { timeoutMs: 60_000 }, 60_000],
  ])('moves only the lease: %s', (_, leaseMs, overrides: JobOverrides, expected) => {
    const job = aJobIn('active', overrides);
    const next = transition(job, { do: 'extend', leaseMs }, NOW + 10_000)!;
    expect(next).toEqual({ job: { ...job, leaseUntil: NOW + expected, nextAt: NOW + expected }, events: [] });
  });
});

describe('settle', () => {
  it('past the execution timeout the run has timed out, whatever its worker says', () => {
    const job = aJobIn('active', { timeoutMs: 1000 });
    const outcomes: Outcome[] = [
      ...[{ kind: 'completed', result: 1 } as const, { kind: 'snoozed', until: NOW + 9_000 } as const],
      ...[{ kind: 'requeued' } as const, { kind: 'cancelled' } as const],
      { kind: 'discarded', error: { code: 'boom', message: 'no' } },
    ];
    for (const outcome of outcomes) {
      expect(transition(job, settle(outcome), NOW + 999)).not.toBeNull();
      expect(transition(job, settle(outcome), NOW + 1000)).toBeNull();
    }
    const failed = settle({ kind: 'failed', error: { code: 'boom', message: 'no', retryable: false } });
    expect(transition(job, failed, NOW + 1000)).toEqual(transition(job, { do: 'tick' }, NOW + 1000));
    // A worker that has ended it for the same reason knows what it used.
    const details = { peak_memory_bytes: 5 };
    const late = settle({ kind: 'failed', error: { code: 'timeout', message: 'no', retryable: false, details } });
    const { errors } = transition(job, late, NOW + 1000)!.job;
    expect(errors).toMatchObject([{ code: 'timeout', message: expect.stringContaining('1000 ms'), details }]);
  });
});

describe('cancel', () => {
  it('tells who and why, and takes lease, slot and alarm away', () => {
    const job = aJobIn('active', { timeoutMs: 1000, limitKey: 'k', holdsSlot: true });
    const next = transition(job, { do: 'cancel', by: 'me', reason: 'changed my mind' }, NOW + 1)!;
    expect(next.job).toMatchObject({ outcome: 'cancelled', finishedAt: NOW + 1, holdsSlot: false });
    expect(next.job).toMatchObject({ leaseUntil: null, timeoutAt: null, nextAt: null });
    expect(next.events[0]!.data).toEqual({ cancelled_by: 'me', reason: 'changed my mind' });
  });

  it('leaves a workflow node to be advanced', () => {
    const next = transition(aJobIn('active', { workflowId: 'f', node: 'n' }), { do: 'cancel' }, NOW + 1)!;
    expect(next.job).toMatchObject({ advancePending: true, nextAt: NOW + 1 });
  });
});

describe('activate', () => {
  it('a job that was also scheduled keeps waiting for its time', () => {
    const job = aJobIn('pending', { scheduledAt: NOW + 1000 });
    const early = transition(job, { do: 'activate' }, NOW)!;
    expect(early.job).toMatchObject({ state: 'scheduled', scheduledAt: NOW + 1000, nextAt: NOW + 1000, rank: null });
    expect(early.events).toMatchObject([{ type: 'job.scheduled', data: { scheduled_at: '2030-01-01T00:00:01.000Z' } }]);
    const late = transition(job, { do: 'activate' }, NOW + 1000)!;
    expect(late.job).toMatchObject({ state: 'available', scheduledAt: null, enqueuedAt: NOW + 1000 });
  });
});

describe('replay', () => {
  it('gives the attempts back and keeps runs and errors', () => {
    const job = { ...aJobIn('discarded', { expiresAt: NOW + 1 }), dead: true };
    const next = transition(job, { do: 'replay' }, NOW + 9)!;
    expect(next.job).toMatchObject({ attempt: 0, run: 1, dead: false, finishedAt: null, expiresAt: null });
    expect(next.job.outcome).toBeNull();
    expect(next.job).toMatchObject({ enqueuedAt: NOW + 9, rank: rankOf(job.priority, job.seq), errors: job.errors });
    expect(next.events.map((event) => event.type)).toEqual(['job.replayed', 'job.enqueued']);
  });
});

describe('D2: replay', () => {
  it.each(['completed', 'cancelled', 'discarded'] as const)('starts a %s job over, without its result', (state) => {
    const job = aJobIn(state, { result: state === 'completed' ? { ok: true } : null });
    const next = transition(job, { do: 'replay' }, NOW + 9)!;
    expect(next.job).toMatchObject({ state: 'available', attempt: 0, run: job.run, result: null, finishedAt: null });
    expect(next.events.map((event) => event.type)).toEqual(['job.replayed', 'job.enqueued']);
  });

  it.each(['scheduled', 'available', 'pending', 'active', 'retryable'] as const)('leaves a %s job alone', (state) => {
    expect(transition(aJobIn(state), { do: 'replay' }, NOW)).toBeNull();
  });

  it('of nodes starts only those over that failed', () => {
    const node = { workflowId: 'f', node: 'n' };
    expect(transition(aJobIn('completed', node), { do: 'replay' }, NOW)).toBeNull();
    expect(transition(aJobIn('cancelled', node), { do: 'replay' }, NOW)).toBeNull();
    expect(transition(aJobIn('discarded', node), { do: 'replay' }, NOW)).not.toBeNull();
  });
});

describe('forget', () => {
  it('takes a dead letter out of its set without an event', () => {
    const job = { ...aJobIn('discarded'), dead: true };
    expect(transition(job, { do: 'forget' }, NOW)).toEqual({ job: { ...job, dead: false }, events: [] });
  });
});

const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(CLAIM) },
  { weight: 3, arbitrary: fc.constant<Command>({ do: 'tick' }) },
  { weight: 1, arbitrary: fc.constant<Command>({ do: 'extend', leaseMs: null }) },
  { weight: 1, arbitrary: fc.constant<Command>({ do: 'cancel', by: 'me' }) },
  { weight: 1, arbitrary: fc.constant<Command>({ do: 'activate' }) },
  { weight: 3, arbitrary: fc.constant<Command>({ do: 'replay' }) },
  { weight: 1, arbitrary: fc.constant<Command>({ do: 'forget' }) },
  {
    weight: 6,
    arbitrary: fc
      .constantFrom<Outcome>(
        { kind: 'completed', result: { a: [1] } },
        { kind: 'failed', error },
        { kind: 'snoozed', until: NOW },
        { kind: 'snoozed', error },
        { kind: 'requeued', error },
        { kind: 'cancelled', reason: 'r' },
        { kind: 'discarded', error, deadLetter: true },
      )
      .map(settle),
  },
);

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

describe('a job’s whole life', () => {
  const anyLife = fc.record({
    start: fc.constantFrom<JobState>('available', 'scheduled', 'pending'),
    overrides: fc.record({
      maxAttempts: fc.integer({ min: 1, max: 3 }),
      timeoutMs: fc.constantFrom(null, 1000),
      expiresAt: fc.constantFrom(null, NOW + 100_000),
      workflowId: fc.constantFrom(null, 'flow'),
    }),
    steps: fc.array(fc.tuple(anyCommand, fc.constantFrom(0, 1, 1000, 40_000)), { maxLength: 40, size: 'max' }),
  });

  it('transition is pure: it changes nothing it is given and answers the same again', () => {
    fc.assert(
      fc.property(anyLife, ({ start, overrides, steps }) => {
        let [job, now] = [deepFreeze(aJobIn(start, overrides)), NOW];
        for (const [command, ms] of steps) {
          now += ms;
          const next = transition(job, deepFreeze(command), now);
          expect(transition(structuredClone(job), command, now)).toEqual(next);
          if (next) job = deepFreeze(next.job);
        }
      }),
    );
  });

  // fault: random commands at random times
  it('guarantee 4: the version is the number of events, which are numbered without gap', () => {
    fc.assert(
      fc.property(anyLife, ({ start, overrides, steps }) => {
        let [job, now, told] = [aJobIn(start, overrides), NOW, 1];
        for (const [command, ms] of steps) {
          now += ms;
          const next = transition(job, command, now);
          if (!next) continue;
          for (const event of next.events) expect(event.sequence).toBe(++told);
          expect(next.job.version).toBe(told);
          expect(next.job.attempt).toBeLessThanOrEqual(next.job.run);
          job = next.job;
        }
      }),
    );
  });

  it('a job sleeps and is woken for the run that was snoozed, and for no other', () => {
    const snoozed = transition(aJobIn('active'), settle({ kind: 'snoozed', until: LATER }), NOW)!.job;
    const { run } = snoozed;
    const asleep = transition(snoozed, { do: 'sleep', run, until: LATER + 5_000 }, NOW)!;
    expect(asleep.job).toMatchObject({ state: 'retryable', scheduledAt: LATER + 5_000, nextAt: LATER + 5_000 });
    expect(asleep.events).toEqual([]);
    const woken = transition(asleep.job, { do: 'wake', run }, NOW + 1)!;
    expect(woken.job).toMatchObject({ state: 'available', scheduledAt: null, enqueuedAt: NOW + 1 });
    expect(woken.events).toMatchObject([{ type: 'job.enqueued' }]);
    // It stands in line by the time at which it was woken, not by the one that it slept for.
    expect(woken.job.seq).toBeLessThan(snoozed.seq);
    expect(transition(asleep.job, { do: 'wake', run: run + 1 }, NOW)).toBeNull();
    expect(transition(asleep.job, { do: 'sleep', run: run - 1, until: LATER }, NOW)).toBeNull();
    const failed = transition(aJobIn('active'), settle({ kind: 'failed', error }), NOW)!.job;
    expect(transition(failed, { do: 'wake', run: failed.run }, NOW)).toBeNull();
  });

  it('a tick that has done its work finds nothing more to do at that moment', () => {
    fc.assert(
      fc.property(anyLife, ({ start, overrides, steps }) => {
        let [job, now] = [aJobIn(start, overrides), NOW];
        for (const [command, ms] of steps) {
          now += ms;
          job = transition(job, command, now)?.job ?? job;
          const first = transition(job, { do: 'tick' }, now);
          // A lease that ran out leads to an available job, which may have expired meanwhile: two ticks at most.
          const second = first && transition(first.job, { do: 'tick' }, now);
          const last = second ?? first;
          expect(last && transition(last.job, { do: 'tick' }, now)).toBeNull();
          if (job.nextAt === null || job.nextAt > now) expect(first).toBeNull();
        }
      }),
    );
  });
});
