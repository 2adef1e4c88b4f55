import fc from 'fast-check';
import { JOB_STATES, type JobState } from '../../job/job.ts';
import type { RetryOptions } from '../../job/retry-policy.ts';

export const TENANTS = ['', 'acme'] as const;
export const QUEUES = ['a', 'b', 'c'] as const;
export const LIMIT_KEYS = ['x', 'y'] as const;

/** Points at something that happened before: 0 is the newest. Data and no reference, so that steps shrink well. */
type Pick = number;

export interface JobPlan {
  queue: string;
  priority: number;
  delayMs: number | null;
  expiresMs: number | null;
  timeoutMs: number | null;
  visibilityMs: number | null;
  limitKey: string | null;
  idempotencyKey: string | null;
  pending: boolean;
  retry: RetryOptions | null;
}

export interface SettlePlan {
  lease: Pick;
  kind: 'completed' | 'failed' | 'fatal' | 'snoozed' | 'requeued' | 'cancelled' | 'discarded' | 'dead';
}

export type Step =
  | { do: 'insert'; tenant: string; groups: JobPlan[][] }
  | { do: 'insertAgain'; known: Pick; other: JobPlan }
  | { do: 'insertFlow'; tenant: string; parents: number; child: JobPlan }
  | { do: 'claim'; tenant: string; queues: string[]; limit: number; worker: string; leaseMs: number }
  | { do: 'claimAgain'; claim: Pick }
  | { do: 'claimById'; jobs: Pick[]; worker: string }
  | { do: 'settle'; plans: SettlePlan[] }
  | { do: 'extend'; lease: Pick; by: 'token' | 'worker' | 'anyone'; leaseMs: number | null }
  | { do: 'command'; job: Pick; command: 'cancel' | 'activate' | 'replay' | 'forget' }
  | { do: 'cancelLate'; job: Pick; between: 'heartbeat' | 'claim' }
  | { do: 'sweep' }
  | { do: 'pause' | 'resume'; tenant: string; queue: string }
  | { do: 'limit'; tenant: string; key: string; concurrency: number }
  | { do: 'wait'; ms: number }
  | { do: 'prune'; keepMs: number }
  | { do: 'list'; tenant: string; states: JobState[] | null; queues: string[] | null; limit: number };

/** What just happened is what most calls are about; now and then something old comes up. */
const pick = fc.oneof({ weight: 3, arbitrary: fc.nat(3) }, fc.nat(60));
const tenant = fc.oneof({ weight: 4, arbitrary: fc.constant(TENANTS[0]) }, fc.constant(TENANTS[1]));
const queue = fc.constantFrom(...QUEUES);
const worker = fc.constantFrom('w1', 'w2', 'w3');
const queueOrder: fc.Arbitrary<string[]> = fc.oneof(
  fc.constant<string[]>([...QUEUES]),
  fc.shuffledSubarray<string>([...QUEUES], { minLength: 1 }),
);
/** Null `usually` times as often as not: most jobs are plain, a few have everything. */
const seldom = <T>(usually: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: usually, arbitrary: fc.constant(null) }, value);

const RETRIES: (RetryOptions | null)[] = [
  null,
  { max_attempts: 1 },
  { max_attempts: 2, jitter: false },
  { max_attempts: 5, initial_interval: 'PT0.5S', backoff_strategy: 'linear', on_exhaustion: 'dead_letter' },
];

const jobPlan: fc.Arbitrary<JobPlan> = fc.record({
  queue,
  priority: fc.constantFrom(0, 0, 0, 10, -10, 100),
  delayMs: seldom(4, fc.constantFrom(1, 1000, 5000)),
  expiresMs: seldom(7, fc.constantFrom(500, 5000, 40_000)),
  timeoutMs: seldom(4, fc.constantFrom(1000, 31_000)),
  visibilityMs: seldom(4, fc.constantFrom(500, 60_000)),
  limitKey: seldom(1, fc.constantFrom('x', 'x', 'y')),
  idempotencyKey: seldom(9, fc.constantFrom('k1', 'k2', 'k3')),
  pending: fc.constantFrom(false, false, false, false, false, false, true),
  retry: fc.constantFrom(...RETRIES),
});

const KINDS = ['completed', 'failed', 'fatal', 'snoozed', 'requeued', 'cancelled', 'discarded', 'dead'] as const;

const settlePlan: fc.Arbitrary<SettlePlan> = fc.record({
  lease: pick,
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constant('completed' as const) },
    { weight: 2, arbitrary: fc.constant('failed' as const) },
    { weight: 4, arbitrary: fc.constantFrom(...KINDS) },
  ),
});

const is = <D extends Step['do']>(name: D) => fc.constant(name);

const WEIGHTED: { weight: number; arbitrary: fc.Arbitrary<Step> }[] = [
  {
    weight: 5,
    arbitrary: fc.record({
      do: is('insert'),
      tenant,
      groups: fc.array(fc.array(jobPlan, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('insertAgain'), known: pick, other: jobPlan }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: is('insertFlow'), tenant, parents: fc.constantFrom(1, 1, 2, 3), child: jobPlan }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      do: is('claim'),
      tenant,
      queues: queueOrder,
      limit: fc.integer({ min: 1, max: 5 }),
      worker,
      leaseMs: fc.constantFrom(1000, 30_000, 30_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('claimAgain'), claim: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: is('claimById'), jobs: fc.array(pick, { minLength: 1, maxLength: 4 }), worker }),
  },
  {
    weight: 7,
    arbitrary: fc.record({ do: is('settle'), plans: fc.array(settlePlan, { minLength: 1, maxLength: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: is('extend'),
      lease: pick,
      by: fc.constantFrom('token', 'worker', 'anyone'),
      leaseMs: seldom(1, fc.constantFrom(10, 5000, 90_000)),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: is('command'),
      job: pick,
      command: fc.constantFrom('cancel', 'activate', 'replay', 'replay', 'forget'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: is('cancelLate'), job: pick, between: fc.constantFrom('heartbeat', 'claim') }),
  },
  { weight: 4, arbitrary: fc.record({ do: is('sweep') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('pause', 'resume', 'resume'), tenant, queue }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: is('limit'),
      tenant,
      key: fc.constantFrom(...LIMIT_KEYS),
      concurrency: fc.integer({ min: 0, max: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: is('wait'), ms: fc.constantFrom(1, 1, 400, 400, 1000, 1000, 5000, 31_000) }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('prune'), keepMs: fc.constantFrom(0, 1000, 5000) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: is('list'),
      tenant,
      states: seldom(1, fc.subarray([...JOB_STATES], { minLength: 1 })),
      queues: seldom(1, fc.subarray([...QUEUES], { minLength: 1 })),
      limit: fc.integer({ min: 1, max: 5 }),
    }),
  },
];

/** What a day in the life of a store may look like. */
export const anySteps = (longest: number): fc.Arbitrary<Step[]> =>
  fc.array(fc.oneof(...WEIGHTED), { maxLength: longest, size: 'max' });
