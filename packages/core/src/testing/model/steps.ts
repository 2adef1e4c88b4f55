import fc from 'fast-check';
import { CONFLICT_ACTIONS, type ConflictAction } from '../../enqueue/unique.ts';
import { JOB_STATES, type JobState } from '../../job/job.ts';
import type { RetryOptions } from '../../job/retry-policy.ts';
import type { LimitRule } from '../../limits/limit.ts';

import { WORKFLOW_STATES, type WorkflowState } from '../../store/workflow-record.ts';

import { type JournalStep, journalSteps } from './journal-plans.ts';
import { type RecordStep, recordSteps } from './record-plans.ts';

export const TENANTS = ['', 'acme'] as const;
export const QUEUES = ['a', 'b', 'c'] as const;
/** `x` has only a concurrency, `y` always a rate, and `z` begins without a rule. */
export const LIMIT_KEYS = ['x', 'y', 'z'] as const;
export type LimitKey = (typeof LIMIT_KEYS)[number];
/** The last one has states and a period of its own. */
export const UNIQUE_KEYS = ['u1', 'u2', 'own'] as const;
export type UniqueKey = (typeof UNIQUE_KEYS)[number];
/** The only period, since what becomes of a window under another one is left to the store. */
export const PERIOD_MS = 1000;

/** Points at something that happened before: 0 is the newest. Data and no reference, so that steps shrink well. */
export type Pick = number;

export interface JobPlan {
  queue: string;
  priority: number;
  delayMs: number | null;
  expiresMs: number | null;
  timeoutMs: number | null;
  visibilityMs: number | null;
  limitKey: LimitKey | null;
  /** Whether the job says what the rule of its limit is. */
  bringsRule: boolean;
  idempotencyKey: string | null;
  pending: boolean;
  retry: RetryOptions | null;
}

export interface ClaimPlan {
  tenant: string;
  queues: string[];
  limit: number;
  worker: string;
  leaseMs: number;
}

export interface SettlePlan {
  lease: Pick;
  kind: (typeof KINDS)[number];
}

export interface NodePlan {
  plan: JobPlan;
  /** Among the nodes before it; none: it starts at once. */
  parents: Pick[];
}

/** What becomes of nodes that wait for nothing more. */
const HOWS = ['start', 'delay', 'skip', 'gather', 'fail'] as const;

export type Step =
  | { do: 'insert'; tenant: string; groups: JobPlan[][] }
  | ({ do: 'insertAndClaim'; plan: JobPlan } & ClaimPlan)
  | { do: 'insertAgain'; known: Pick; other: JobPlan }
  | { do: 'insertUnique'; tenant: string; key: UniqueKey; onConflict: ConflictAction; plan: JobPlan }
  | { do: 'replayUnique'; job: Pick }
  | { do: 'insertFlow'; tenant: string; nodes: NodePlan[] }
  | { do: 'joinFlow'; flow: Pick; node: NodePlan }
  | { do: 'moveFlow'; flow: Pick; from: WorkflowState; to: WorkflowState; callback: boolean; late: boolean }
  | { do: 'advance'; flow: Pick; nodes: Pick[]; how: (typeof HOWS)[number] }
  | { do: 'putCron'; tenant: string; name: string; enabled: boolean; inMs: number }
  | { do: 'removeCron'; tenant: string; name: string }
  | { do: 'fireCron'; cron: Pick; job: JobPlan | null; inMs: number }
  | { do: 'fireAgain'; fired: Pick }
  | ({ do: 'claim' } & ClaimPlan)
  | { do: 'claimAgain'; claim: Pick }
  | { do: 'claimById'; jobs: Pick[]; worker: string }
  | { do: 'settle'; plans: SettlePlan[] }
  | { do: 'extend'; lease: Pick; by: 'token' | 'worker' | 'anyone'; leaseMs: number | null }
  | { do: 'command'; job: Pick; command: 'cancel' | 'activate' | 'replay' | 'forget' | 'reinstate' }
  | { do: 'cancelLate'; job: Pick }
  | { do: 'sweep' }
  | { do: 'pause' | 'resume'; tenant: string; queue: string }
  | { do: 'limit'; tenant: string; key: LimitKey; rule: LimitRule }
  | { do: 'queueLimit'; tenant: string; queue: string; rule: LimitRule | null }
  | { do: 'tenantLimit'; tenant: string; concurrency: number | null }
  | { do: 'wait'; ms: number }
  | { do: 'prune'; keepMs: number; journalKeepMs: number | null }
  | { do: 'list'; tenant: string; states: JobState[] | null; queues: string[] | null; limit: number }
  | RecordStep
  | JournalStep;

export type StepOf<D extends Step['do']> = Extract<Step, { do: D }>;

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
  limitKey: seldom(1, fc.constantFrom('x', 'y', 'y', 'z')),
  bringsRule: fc.constantFrom(false, false, false, true),
  idempotencyKey: seldom(9, fc.constantFrom('k1', 'k2', 'k3')),
  pending: fc.constantFrom(false, false, false, false, false, false, true),
  retry: fc.constantFrom(...RETRIES),
});

const nodePlan: fc.Arbitrary<NodePlan> = fc.record({ plan: jobPlan, parents: fc.array(fc.nat(4), { maxLength: 3 }) });

const concurrencyRule: fc.Arbitrary<LimitRule> = fc.record({
  concurrency: fc.integer({ min: 0, max: 3 }),
  rate: fc.constant(null),
});
const rateRule: fc.Arbitrary<LimitRule> = fc.record({
  concurrency: seldom(1, fc.integer({ min: 1, max: 3 })),
  rate: fc.record({ limit: fc.integer({ min: 1, max: 3 }), periodMs: fc.constant(PERIOD_MS) }),
});

const cronName = fc.constantFrom('hourly', 'nightly');

const KINDS = [
  ...(['completed', 'failed', 'fatal', 'snoozed', 'unknown'] as const),
  ...(['requeued', 'cancelled', 'discarded', 'dead'] as const),
] as const;

const settlePlan: fc.Arbitrary<SettlePlan> = fc.record({
  lease: pick,
  kind: fc.oneof(
    { weight: 3, arbitrary: fc.constant('completed' as const) },
    { weight: 2, arbitrary: fc.constant('failed' as const) },
    { weight: 4, arbitrary: fc.constantFrom(...KINDS) },
  ),
});

const claimPlan = {
  tenant,
  queues: queueOrder,
  limit: fc.integer({ min: 1, max: 5 }),
  worker,
  leaseMs: fc.constantFrom(1000, 30_000, 30_000),
};

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
  { weight: 3, arbitrary: fc.record({ do: is('insertAndClaim'), plan: jobPlan, ...claimPlan }) },
  { weight: 1, arbitrary: fc.record({ do: is('insertAgain'), known: pick, other: jobPlan }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: is('insertUnique'),
      tenant,
      key: fc.constantFrom(...UNIQUE_KEYS),
      onConflict: fc.constantFrom(...CONFLICT_ACTIONS),
      plan: jobPlan,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: is('replayUnique'), job: pick }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: is('insertFlow'), tenant, nodes: fc.array(nodePlan, { minLength: 2, maxLength: 5 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('joinFlow'), flow: pick, node: nodePlan }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: is('moveFlow'),
      flow: pick,
      from: fc.constantFrom('running', 'running', ...WORKFLOW_STATES),
      to: fc.constantFrom(...WORKFLOW_STATES),
      callback: fc.boolean(),
      late: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: is('advance'),
      flow: pick,
      nodes: fc.array(fc.nat(5), { minLength: 1, maxLength: 3 }),
      how: fc.constantFrom('start', 'start', ...HOWS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: is('putCron'),
      tenant,
      name: cronName,
      enabled: fc.constantFrom(true, true, false),
      inMs: fc.constantFrom(0, 1000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('removeCron'), tenant, name: cronName }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: is('fireCron'),
      cron: pick,
      job: seldom(1, jobPlan),
      inMs: fc.constantFrom(0, 1, 1000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('fireAgain'), fired: pick }) },
  {
    weight: 7,
    arbitrary: fc.record({ do: is('claim'), ...claimPlan }),
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
      command: fc.constantFrom('cancel', 'activate', 'replay', 'replay', 'forget', 'reinstate'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('cancelLate'), job: pick }) },
  { weight: 4, arbitrary: fc.record({ do: is('sweep') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('pause', 'resume', 'resume'), tenant, queue }) },
  {
    weight: 2,
    arbitrary: fc.oneof(
      fc.record({ do: is('limit'), tenant, key: fc.constantFrom('x' as const, 'z' as const), rule: concurrencyRule }),
      fc.record({ do: is('limit'), tenant, key: fc.constant('y' as const), rule: rateRule }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.oneof(
      fc.record({ do: is('queueLimit'), tenant, queue: fc.constant('a'), rule: seldom(1, concurrencyRule) }),
      fc.record({ do: is('queueLimit'), tenant, queue: fc.constant('b'), rule: rateRule }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: is('tenantLimit'), tenant, concurrency: seldom(1, fc.integer({ min: 1, max: 4 })) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: is('wait'), ms: fc.constantFrom(1, 1, 400, 400, 1000, 1000, 5000, 31_000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: is('prune'),
      keepMs: fc.constantFrom(0, 1000, 5000),
      journalKeepMs: fc.constantFrom(null, 0, 400, 1000),
    }),
  },
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
  ...recordSteps(tenant),
  ...journalSteps,
];

/** What a day in the life of a store may look like. */
export const anySteps = (longest: number): fc.Arbitrary<Step[]> =>
  fc.array(fc.oneof(...WEIGHTED), { maxLength: longest, size: 'max' });
