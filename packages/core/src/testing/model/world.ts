import { expect } from 'vitest';
import { isJobEvent, type JobEvent, type LogEvent } from '../../events/job-event.ts';
import { kindOf, type SubjectEventType, type Told } from '../../events/subject-event.ts';
import type { Job, JobState } from '../../job/job.ts';
import type { ClaimByIdRequest, ClaimRequest } from '../../store/claim.ts';
import type { FireRequest } from '../../store/crons.ts';
import type { NewJob } from '../../store/insert.ts';
import type { JobFilter, JobKey } from '../../store/query.ts';
import type { Store } from '../../store/store.ts';
import { aJob, type JobOverrides, jobIdAt } from '../factories.ts';
import type { TestClock } from '../test-clock.ts';
import { checkKeys } from './invariants.ts';
import { LimitWatch } from './limit-watch.ts';
import { LIMIT_KEYS, QUEUES, TENANTS } from './steps.ts';

/** More than there ever is, where a limit would cut between rows that no rule puts in order. */
const ALL = 10_000;

const byId = <T extends JobKey>(a: T, b: T): number => (a.tenant + a.id < b.tenant + b.id ? -1 : 1);

export const sorted = (jobs: readonly Job[]): Job[] => jobs.toSorted(byId);

/** A workflow and the nodes that it was ever given. */
export interface Flow {
  tenant: string;
  id: string;
  nodes: JobKey[];
}

const nameOf = ({ tenant, type, subject, jobId, source }: LogEvent): string =>
  subject === undefined ? `${tenant}/${jobId}` : `${tenant}/${kindOf(type)} ${subject} ${source}`;

const inOrder = (events: readonly LogEvent[]): LogEvent[] =>
  events.toSorted((a, b) => {
    const [one, two] = [nameOf(a), nameOf(b)];
    return one === two ? a.sequence - b.sequence : one < two ? -1 : 1;
  });

/** The store under test and the model, side by side, and what the test remembers of both. */
export class World {
  readonly real: Store;
  readonly model: Store;
  readonly clock: TestClock;
  /** Everything that was ever handed in, whether it was stored or not. */
  readonly jobs: JobKey[] = [];
  /** Rows as claimed: what a worker settles with, however late. */
  readonly leases: Job[] = [];
  readonly claims: (ClaimRequest | ClaimByIdRequest)[] = [];
  readonly paused = new Set<string>();
  readonly flows: Flow[] = [];
  /** From a node to those that must complete before it. */
  readonly parents = new Map<string, string[]>();
  readonly fires: FireRequest[] = [];
  readonly limits = new LimitWatch();
  /** Those that came with a unique key. */
  readonly unique: JobKey[] = [];
  /** A version that each record had before, and the newest fence of each lock. */
  readonly versions = new Map<string, number>();
  readonly fences = new Map<string, number>();
  /** Jobs whose runs have appended entries, stored or not. */
  readonly journaled = new Map<string, JobKey>();
  /** Every event that was ever read, as the log loses old ones to pruning. */
  readonly seen: JobEvent[] = [];
  readonly #cursors = new Map<Store, string>();
  #made = 0;

  constructor(real: Store, model: Store, clock: TestClock) {
    this.real = real;
    this.model = model;
    this.clock = clock;
  }

  get now(): number {
    return this.clock.now();
  }

  /** Does the same to both and holds the answers against each other. */
  async both<T>(what: string, act: (store: Store) => Promise<T>): Promise<T> {
    const real = await act(this.real);
    const model = await act(this.model);
    expect(real, `${what}: the store answers as the model does`).toEqual(model);
    return real;
  }

  /** Zero is the newest. */
  pick<T>(from: readonly T[], index: number): T | undefined {
    return from.length === 0 ? undefined : from.at(-1 - (index % from.length));
  }

  /**
   * Ids and sequence numbers count from the start of the run, since a retry's delay comes from the id: the same steps
   * must give the same run when they are shrunk. The last digits of `seq` are never shared, so no ranks are equal.
   */
  newJob(overrides: JobOverrides): NewJob {
    this.#made += 1;
    const id = jobIdAt(this.now, this.#made);
    const made = aJob({ id, seq: this.now * 1000 + this.#made, createdAt: this.now, ...overrides });
    this.jobs.push({ tenant: made.job.tenant, id: made.job.id });
    this.limits.note(made.job);
    if (made.job.uniqueKey !== null) this.unique.push({ tenant: made.job.tenant, id: made.job.id });
    return made;
  }

  /** Jobs that are now in one of the given states. */
  async inState(...states: JobState[]): Promise<JobKey[]> {
    const rows = await this.model.get(this.jobs);
    return this.jobs.filter((_, index) => states.includes(rows[index]?.state as JobState));
  }

  nextClaimId(): string {
    return `claim-${this.claims.length + 1}-${this.leases.length}`;
  }

  /** Events of a step are in the log when it has answered; order is promised within a job. */
  async followEvents(): Promise<void> {
    const fresh = await this.both('events', async (store) => {
      const events = await this.#readNew(store);
      return inOrder(events);
    });
    const ofJobs = fresh.filter(isJobEvent);
    this.seen.push(...ofJobs);
    this.limits.follow(ofJobs);
  }

  /** What the engine would say of something that is not a job. */
  told(type: SubjectEventType, tenant: string, subject: string): Told {
    return { type, tenant, subject, at: this.now, data: { by: 'model' } };
  }

  async #readNew(store: Store): Promise<LogEvent[]> {
    const events: LogEvent[] = [];
    for (let atEnd = false; !atEnd; ) {
      const after = this.#cursors.get(store);
      const page = await store.events.read({
        filter: { tenant: '*' },
        limit: 7,
        ...(after === undefined ? {} : { after }),
      });
      events.push(...page.events.map(({ cursor: _, ...event }) => event));
      this.#cursors.set(store, page.cursor);
      atEnd = page.atEnd;
    }
    return events;
  }

  /** A limit may be lowered under its holders, but no slot is ever given beyond it. */
  async checkLimits(): Promise<void> {
    for (const tenant of TENANTS) {
      for (const key of LIMIT_KEYS) {
        const info = await this.both('limits.get', async (store) => {
          const found = await store.limits.get(tenant, key);
          // Whether a job that never asked for a slot makes a key known is left to the store.
          return found?.rule || found?.holders ? found : null;
        });
        if (info) this.limits.checkKey(info, this.now);
      }
      for (const queue of await this.model.queues.list(tenant)) this.limits.checkQueue(queue, this.now);
      this.limits.checkTenant(tenant, this.now);
    }
  }

  async checkUnique(): Promise<void> {
    checkKeys((await this.model.get(this.unique)).filter((row) => row !== null));
  }

  async listAll(store: Store, filter: JobFilter, limit: number): Promise<Job[]> {
    const jobs: Job[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await store.list({ filter, limit, ...(cursor === undefined ? {} : { cursor }) });
      jobs.push(...page.items);
      if (page.cursor === undefined) return jobs;
      cursor = page.cursor;
    }
  }

  /** Everything that can be asked for, after the last step. Answers the rows that are left. */
  async compareAll(): Promise<Job[]> {
    const rows: Job[] = [];
    for (const tenant of TENANTS) {
      rows.push(...(await this.both('rows', (store) => this.listAll(store, { tenant }, 100))));
      await this.both('queues', async (store) => (await store.queues.list(tenant)).toSorted(byName));
      await this.both('crons', (store) => store.crons.list(tenant));
      for (const queue of QUEUES) {
        await this.both('stats', (store) => store.queues.stats(tenant, queue, { atMost: ALL }));
        await this.both('count', (store) => store.count({ tenant, queues: [queue] }, { atMost: 5 }));
      }
    }
    for (const { tenant, id, nodes } of this.flows) {
      const ids = nodes.map((node) => node.id);
      await this.both('parents', (store) => store.workflows.parents({ tenant, ids }));
      // Whether a workflow outlives its nodes is left to the store.
      if (!rows.some((row) => row.tenant === tenant && row.workflowId === id)) continue;
      await this.both('workflow', (store) => store.workflows.get(tenant, id));
    }
    await this.both('due', async (store) => {
      const { jobs, workflows } = await store.due({ now: this.now, limit: ALL });
      return [sorted(jobs), workflows.toSorted(byId)];
    });
    await this.both('log', async (store) => inOrder(await wholeLog(store)));
    return rows;
  }
}

/** A store may look at a part of the log only; then there is more behind the cursor. */
async function wholeLog(store: Store): Promise<LogEvent[]> {
  const events: LogEvent[] = [];
  let page = await store.events.read({ filter: { tenant: '*' }, limit: ALL });
  for (;;) {
    events.push(...page.events.map(({ cursor: _, ...event }) => event));
    if (page.atEnd) return events;
    page = await store.events.read({ filter: { tenant: '*' }, after: page.cursor, limit: ALL });
  }
}

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);
