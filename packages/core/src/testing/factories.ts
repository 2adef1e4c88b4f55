import { evolve, type Fact } from '../job/evolve.ts';
import type { Job, JobState } from '../job/job.ts';
import type { Outcome } from '../job/outcome.ts';
import { seqAt, sequence } from '../job/rank.ts';
import { resolveRetry } from '../job/retry-policy.ts';
import { type Command, transition } from '../job/transition.ts';
import type { CronRecord } from '../store/crons.ts';
import type { NewJob } from '../store/insert.ts';
import type { WorkflowRecord } from '../store/workflow-record.ts';
import { TEST_EPOCH } from './test-clock.ts';

/** What a test may say about a new job; the rest is derived as the engine would. */
export type JobOverrides = Partial<Omit<Job, 'rank' | 'nextAt' | 'version'>>;

/** A UUIDv7 without chance: sorts by time, then by number. */
export function jobIdAt(time: number, number: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

let made = 0;
const nextSeq = sequence();

const FIRST_FACT: Partial<Record<JobState, Fact>> = {
  available: ['job.enqueued'],
  scheduled: ['job.scheduled'],
  pending: ['job.pending'],
};

/** A row as enqueue makes it: available, or scheduled when it has a `scheduledAt`, with the event that tells of it. */
export function aJob(overrides: JobOverrides = {}): NewJob {
  made += 1;
  const createdAt = overrides.createdAt ?? TEST_EPOCH;
  const scheduledAt = overrides.scheduledAt ?? null;
  const state = overrides.state ?? (scheduledAt === null ? 'available' : 'scheduled');
  const spec = overrides.spec ?? { args: [], meta: {} };
  const seq = overrides.seq ?? nextSeq(createdAt);
  const job: Job = {
    tenant: '',
    id: jobIdAt(createdAt, made),
    type: 'test.job',
    queue: 'default',
    priority: 0,
    rank: null,
    nextAt: null,
    version: 0,
    run: 0,
    attempt: 0,
    maxAttempts: resolveRetry(spec.retry).max_attempts,
    claimId: null,
    workerId: null,
    leaseMs: null,
    leaseUntil: null,
    outcome: null,
    timeoutMs: null,
    timeoutAt: null,
    visibilityMs: null,
    enqueuedAt: state === 'available' ? createdAt : null,
    startedAt: null,
    finishedAt: null,
    expiresAt: null,
    retryDelayMs: null,
    errors: [],
    result: null,
    dead: false,
    idempotencyKey: null,
    uniqueKey: null,
    limitKey: null,
    holdsSlot: false,
    workflowId: null,
    node: null,
    advancePending: false,
    ...overrides,
    spec,
    state,
    scheduledAt,
    createdAt,
    seq: scheduledAt === null ? seq : seqAt(scheduledAt, seq),
  };
  const fact = FIRST_FACT[state];
  if (!fact) throw new Error(`A job does not begin its life ${state}; let transition() take it there.`);
  return evolve(job, {}, [fact], createdAt);
}

/** As many jobs of one kind, in the order of their places in the queue. */
export const someJobs = (count: number, overrides: JobOverrides = {}): NewJob[] =>
  Array.from({ length: count }, () => aJob(overrides));

/** A row in any state, taken there by transition() as of its creation. */
export function aJobIn(state: JobState, overrides: JobOverrides = {}): Job {
  if (state === 'scheduled') return aJob({ scheduledAt: TEST_EPOCH + 60_000, ...overrides }).job;
  if (state === 'available' || state === 'pending') return aJob({ ...overrides, state }).job;
  const { job } = aJob(overrides);
  const active = move(job, { do: 'claim', claimId: 'claim-1', workerId: 'worker-1', leaseMs: 30_000 });
  return state === 'active' ? active : move(active, { do: 'settle', outcome: ENDINGS[state] });
}

/** A schedule that is due right away. */
export const aCron = (overrides: Partial<CronRecord> = {}): CronRecord => ({
  tenant: '',
  name: 'every-minute',
  expression: '* * * * *',
  timezone: 'UTC',
  overlap: 'skip',
  misfire: 'run_once',
  catchUpLimit: 10,
  enabled: true,
  description: null,
  template: { type: 'test.job', args: [] },
  nextAt: TEST_EPOCH,
  lastAt: null,
  lastJobId: null,
  runs: 0,
  createdAt: TEST_EPOCH,
  version: 1,
  ...overrides,
});

/** A running workflow as it is created, without its nodes. */
export const aWorkflow = (overrides: Partial<WorkflowRecord> = {}): WorkflowRecord => ({
  tenant: '',
  id: 'flow',
  type: 'dag',
  name: null,
  state: 'running',
  failurePolicy: 'stop',
  callbacks: {},
  total: 0,
  createdAt: TEST_EPOCH,
  finishedAt: null,
  timeoutMs: null,
  nextAt: null,
  reason: null,
  skips: false,
  ...overrides,
});

const ERROR = { code: 'boom', message: 'It broke.' };

const ENDINGS = {
  completed: { kind: 'completed', result: null },
  retryable: { kind: 'snoozed', until: TEST_EPOCH + 60_000 },
  cancelled: { kind: 'cancelled' },
  discarded: { kind: 'discarded', error: ERROR },
} satisfies Partial<Record<JobState, Outcome>>;

function move(job: Job, command: Command): Job {
  const next = transition(job, command, job.createdAt);
  if (!next) throw new Error(`'${command.do}' does not fit a job that is ${job.state}.`);
  return next.job;
}
