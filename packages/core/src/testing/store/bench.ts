import { expect, onTestFinished } from 'vitest';
import type { LogEvent, LoggedEvent } from '../../events/job-event.ts';
import type { Job, JobState } from '../../job/job.ts';
import type { Outcome } from '../../job/outcome.ts';
import type { Command } from '../../job/transition.ts';
import type { LimitRule } from '../../limits/limit.ts';
import type { ApplyAnswer } from '../../store/apply.ts';
import type { ClaimByIdRequest, ClaimRequest } from '../../store/claim.ts';
import { ALL_TENANTS, type EventFilter } from '../../store/event-log.ts';
import type { NewJob } from '../../store/insert.ts';
import type { JobKey } from '../../store/query.ts';
import type { RecordKey } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { advance } from '../advance.ts';
import { settleChange, versionChange } from '../changes.ts';
import { aJob, type JobOverrides } from '../factories.ts';
import type { TestClock } from '../test-clock.ts';

/** A fresh, empty store whose times come from the given clock. */
export interface StoreUnderTest {
  store: Store;
  clock: TestClock;
  /** Makes rows unreadable behind the store's back; absent where nothing but the store gets at them. */
  damage?: Damage;
  /** Called when the test is over, whatever came of it. */
  close(): Promise<void>;
}

export interface Damage {
  job(key: JobKey): Promise<void>;
  cron(key: { tenant: string; name: string }): Promise<void>;
  limit(key: { tenant: string; key: string }): Promise<void>;
  record(key: RecordKey): Promise<void>;
}

export type StoreFactory = () => StoreUnderTest | Promise<StoreUnderTest>;

/** What each file of the suite gets: opens a bench for the running test and closes it afterwards. */
export type OpenBench = () => Promise<Bench>;

export const benchFor =
  (factory: StoreFactory): OpenBench =>
  async () => {
    const made = await factory();
    onTestFinished(() => made.close());
    return new Bench(made);
  };

const BOOM = { code: 'boom', message: 'It broke.' };
export const COMPLETED = { kind: 'completed', result: { ok: true } } satisfies Outcome;
export const FAILED = { kind: 'failed', error: { ...BOOM, type: 'BoomError' } } satisfies Outcome;
export const DISCARDED = { kind: 'discarded', error: BOOM } satisfies Outcome;
export const DEAD = { ...DISCARDED, deadLetter: true } satisfies Outcome;

let claims = 0;
export const newClaimId = (): string => `claim-${++claims}`;

/** A store with the few moves of the engine that the tests are made of. */
export class Bench {
  readonly store: Store;
  readonly clock: TestClock;
  readonly damage: Damage | undefined;

  constructor({ store, clock, damage }: Omit<StoreUnderTest, 'close'>) {
    this.store = store;
    this.clock = clock;
    this.damage = damage;
  }

  get now(): number {
    return this.clock.now();
  }

  /** A new row as of now, not stored yet. */
  make(overrides: JobOverrides = {}): NewJob {
    return aJob({ createdAt: this.now, ...overrides });
  }

  /** Stores jobs, each on its own, and answers their rows as stored. */
  async insert(...jobs: NewJob[]): Promise<Job[]> {
    const answers = await this.store.insert(jobs.map((job) => ({ jobs: [job] })));
    return answers.map((answer) => {
      if (answer.status !== 'inserted') throw new Error(`Expected a job to be inserted, but: ${answer.status}.`);
      return answer.jobs[0]!;
    });
  }

  async add(overrides: JobOverrides = {}): Promise<Job> {
    const [job] = await this.insert(this.make(overrides));
    return job!;
  }

  async addMany(count: number, overrides: JobOverrides = {}): Promise<Job[]> {
    return this.insert(...Array.from({ length: count }, () => this.make(overrides)));
  }

  request(overrides: Partial<ClaimRequest> = {}): ClaimRequest {
    const lease = { claimId: newClaimId(), workerId: 'worker-1', leaseMs: 30_000 };
    return { tenant: '', queues: ['default'], limit: 100, ...lease, now: this.now, ...overrides };
  }

  requestById(ids: readonly string[], overrides: Partial<ClaimByIdRequest> = {}): ClaimByIdRequest {
    const lease = { claimId: newClaimId(), workerId: 'worker-1', leaseMs: 30_000 };
    return { tenant: '', ids, ...lease, now: this.now, ...overrides };
  }

  async claim(overrides: Partial<ClaimRequest> = {}): Promise<Job[]> {
    const [jobs] = await this.store.claim([this.request(overrides)]);
    return jobs!;
  }

  /** Stores a job and claims that very one. */
  async start(overrides: JobOverrides = {}, claim: Partial<ClaimRequest> = {}): Promise<Job> {
    const { tenant, id } = await this.add(overrides);
    const [answer] = await this.store.claimById(this.requestById([id], { tenant, ...claim }));
    if (answer?.status !== 'claimed') throw new Error(`Expected the job to be claimed, but: ${answer?.status}.`);
    return answer.job;
  }

  async settle(claimed: Job, outcome: Outcome): Promise<ApplyAnswer> {
    const [answer] = await this.store.apply([settleChange(claimed, outcome, this.now)]);
    return answer!;
  }

  /** Reads the row, lets the command change it and writes it back, as the engine does. */
  async command(key: JobKey, command: Command): Promise<ApplyAnswer> {
    const row = await this.read(key);
    const change = versionChange(row, command, this.now);
    if (!change) throw new Error(`'${command.do}' does not fit a job that is ${row.state}.`);
    const [answer] = await this.store.apply([change]);
    return answer!;
  }

  async find({ tenant, id }: JobKey): Promise<Job | null> {
    const [job] = await this.store.get([{ tenant, id }]);
    return job!;
  }

  async read(key: JobKey): Promise<Job> {
    const job = await this.find(key);
    if (!job) throw new Error(`There is no job ${key.id} of tenant '${key.tenant}'.`);
    return job;
  }

  /** Sets the rule of a limit; what is not named is not limited. Answers how many jobs were admitted by it. */
  async limit(rule: Partial<LimitRule>, { tenant = '', key = 'k' } = {}): Promise<number> {
    const whole = { concurrency: null, rate: null, ...rule };
    return (await this.store.limits.set(tenant, key, whole, this.now)).admitted.length;
  }

  /** A job of a limit that is full, and so is parked. */
  async addParked(overrides: JobOverrides = {}): Promise<Job> {
    const { tenant = '' } = overrides;
    await this.limit({ concurrency: 1 }, { tenant, key: 'full' });
    await this.add({ tenant, queue: 'elsewhere', limitKey: 'full' });
    return this.add({ ...overrides, limitKey: 'full' });
  }

  /** Looks at the dependents of finished nodes, as the engine does. Answers the rows that were dispatched. */
  advance(...parents: JobKey[]): Promise<Job[]> {
    return advance(this.store, parents, this.now);
  }

  /** Looks at everything that is due, once. */
  async sweep(): Promise<void> {
    const { jobs } = await this.store.due({ now: this.now, limit: 1000 });
    for (const job of jobs) {
      const change = versionChange(job, { do: 'tick' }, this.now);
      if (change) await this.store.apply([change]);
    }
  }

  /** Time passes until whatever has ended by now is old enough to be pruned, however long the store may keep it. */
  outlive(): Promise<void> {
    return this.clock.advance(1000 + this.store.capabilities.pruneLagMs);
  }

  /** The log from `after` to its end, page by page. */
  async log(filter: Partial<EventFilter> = {}, { after, limit = 100 }: { after?: string; limit?: number } = {}) {
    const events: LoggedEvent[] = [];
    for (let cursor = after; ; ) {
      const page = await this.store.events.read({
        filter: { tenant: ALL_TENANTS, ...filter },
        limit,
        ...(cursor === undefined ? {} : { after: cursor }),
      });
      expect(page.events.length).toBeLessThanOrEqual(limit);
      events.push(...page.events);
      if (page.atEnd) return events;
      // A page that moves nothing would be asked for again for ever.
      expect(page.cursor).not.toBe(cursor);
      cursor = page.cursor;
    }
  }

  async eventsOf({ tenant, id }: JobKey): Promise<LogEvent[]> {
    return (await this.log({ tenant, jobIds: [id] })).map(plainEvent);
  }

  /** One job in each state, all in the queue `default`. */
  async oneInEachState(): Promise<Record<JobState, Job>> {
    const ended = await Promise.all([this.start(), this.start(), this.start()]);
    await this.settle(ended[0], COMPLETED);
    await this.settle(ended[1], { kind: 'cancelled' });
    await this.settle(ended[2], DISCARDED);
    const retryable = await this.start();
    await this.settle(retryable, FAILED);
    return {
      completed: await this.read(ended[0]),
      cancelled: await this.read(ended[1]),
      discarded: await this.read(ended[2]),
      retryable: await this.read(retryable),
      active: await this.start(),
      available: await this.add(),
      pending: await this.add({ state: 'pending' }),
      scheduled: await this.add({ scheduledAt: this.now + 60_000 }),
    };
  }
}

/** Without the place in the log, which differs from store to store. */
export function plainEvent({ cursor: _, ...event }: LoggedEvent): LogEvent {
  return event;
}

export const idsOf = (jobs: readonly Job[]): string[] => jobs.map((job) => job.id);

/** Whatever order a store may answer in. */
export const sortedIds = (jobs: readonly Job[]): string[] => idsOf(jobs).sort();
