import type { Job } from '../job/job.ts';
import type { Progress } from '../job/progress.ts';
import type { Json, JsonObject } from '../json.ts';
import type { ApplyAnswer, Change } from '../store/apply.ts';
import type { ClaimAnswer, ClaimByIdRequest, ClaimRequest, OpeningQuery } from '../store/claim.ts';
import type { CronStore } from '../store/crons.ts';
import type { EventLog } from '../store/event-log.ts';
import type { ExtendAnswer, ExtendRequest } from '../store/extend.ts';
import type { InsertAnswer, InsertGroup, NewJob, Stored } from '../store/insert.ts';
import type { JournalStore } from '../store/journal.ts';
import type { LimitStore } from '../store/limits.ts';
import type { WriteOptions } from '../store/lock-held.ts';
import type { LockStore } from '../store/locks.ts';
import type { PruneAnswer, PruneRequest, Retention } from '../store/prune.ts';
import type { DueAnswer, DueQuery, JobFilter, JobKey, JobPage, JobQuery } from '../store/query.ts';
import type { QueueStore } from '../store/queues.ts';
import type { RecordStore } from '../store/records.ts';
import type { ReportRequest, ReportStore } from '../store/reports.ts';
import type { Store, StoreWithin, WakeListener } from '../store/store.ts';
import type { Transaction } from '../store/transaction.ts';
import type { WorkerStore } from '../store/workers.ts';
import type { WorkflowStore } from '../store/workflows.ts';
import type { BlobStore } from './blob-store.ts';
import { fittingEvents, fittingPage } from './fitting-page.ts';
import { JobPayloads } from './job-payloads.ts';
import { offloadedJournal } from './offloaded-journal.ts';
import { lackError, Payloads } from './payloads.ts';

export interface BlobOptions {
  store: BlobStore;
  /** A payload whose JSON has more bytes is kept in the blob store. @defaultValue 65_536 */
  threshold?: number;
}

const THRESHOLD = 65_536;

/**
 * The store with its large payloads elsewhere: a blob is put before the row that refers to it is written, and whoever
 * reads the row finds the payload in its place. What only the engine itself looks at (due rows, waiting children,
 * admitted jobs) keeps its references, since it looks at no payload. A claimed job whose payload cannot be had says so
 * (`payloads.lackOf`), and the claimer decides what becomes of it. `insertAndClaim` is left out: an enqueue would have to
 * wait until the payloads of the claimed jobs have been fetched.
 */
export class OffloadedStore implements Store {
  readonly capabilities: Store['capabilities'];
  readonly clock: Store['clock'];
  readonly events: EventLog;
  readonly reports: ReportStore;
  readonly journal?: JournalStore;
  readonly queues: QueueStore;
  readonly limits: LimitStore;
  readonly workflows: WorkflowStore;
  readonly workers: WorkerStore;
  readonly crons: CronStore;
  readonly records: RecordStore;
  readonly locks: LockStore;
  readonly payloads: JobPayloads;
  readonly within?: (transaction: Transaction) => StoreWithin;
  readonly opensAt?: (query: OpeningQuery) => Promise<number | null>;
  readonly keepFor?: (retention: Partial<Retention>) => void;
  readonly useReminders?: (firstMs: number) => Promise<void>;
  readonly closeSoon?: () => void;
  readonly #inner: Store;
  readonly #blobs: BlobStore;
  readonly #values: Payloads;
  readonly #rows: StoreWithin;

  constructor(inner: Store, { store: blobs, threshold = THRESHOLD }: BlobOptions) {
    this.#inner = inner;
    this.#blobs = blobs;
    this.#values = new Payloads(blobs, threshold);
    this.payloads = new JobPayloads(this.#values);
    this.#rows = this.#rowsOf(inner);
    this.capabilities = inner.capabilities;
    this.clock = inner.clock;
    this.queues = inner.queues;
    this.workers = inner.workers;
    this.records = inner.records;
    this.locks = inner.locks;
    this.events = this.#eventsOf(inner);
    this.reports = this.#reportsOf(inner);
    if (inner.journal) this.journal = offloadedJournal(inner.journal, blobs, inner.capabilities.maxJournalBytes ?? 0);
    this.workflows = this.#workflowsOf(inner);
    this.limits = this.#limitsOf(inner);
    this.crons = this.#cronsOf(inner);
    const { within, opensAt, keepFor, useReminders, closeSoon } = inner;
    if (within) this.within = (transaction) => this.#rowsOf(within.call(inner, transaction));
    if (opensAt) this.opensAt = (query) => opensAt.call(inner, query);
    if (keepFor) this.keepFor = (retention) => keepFor.call(inner, retention);
    if (useReminders) this.useReminders = (firstMs) => useReminders.call(inner, firstMs);
    if (closeSoon) this.closeSoon = () => closeSoon.call(inner);
  }

  /** Reads rows without their args and results over a size; only where these can be had by an address. */
  apart(overBytes: number): Pick<Store, 'get' | 'list'> | undefined {
    if (!this.#blobs.presign) return undefined;
    return {
      get: (keys) => this.#get(this.#inner, keys, overBytes),
      list: (query) => this.#list(query, overBytes),
    };
  }

  insert(groups: readonly InsertGroup[], options?: WriteOptions): Promise<InsertAnswer[]> {
    return this.#rows.insert(groups, options);
  }

  get(keys: readonly JobKey[]): Promise<(Job | null)[]> {
    return this.#rows.get(keys);
  }

  list(query: JobQuery): Promise<JobPage> {
    return this.#list(query);
  }

  count(filter: JobFilter, bound: { atMost: number }): Promise<number> {
    return this.#inner.count(filter, bound);
  }

  async claim(requests: readonly ClaimRequest[]): Promise<Job[][]> {
    const claimed = await this.#inner.claim(requests);
    return Promise.all(claimed.map((jobs) => Promise.all(jobs.map((job) => this.payloads.open(job)))));
  }

  async claimById(request: ClaimByIdRequest): Promise<ClaimAnswer[]> {
    const answers = await this.#inner.claimById(request);
    return Promise.all(
      answers.map(async (answer) =>
        answer.status === 'claimed' ? { ...answer, job: await this.payloads.open(answer.job) } : answer,
      ),
    );
  }

  apply(changes: readonly Change[], options?: WriteOptions): Promise<ApplyAnswer[]> {
    return this.#rows.apply(changes, options);
  }

  extend(requests: readonly ExtendRequest[]): Promise<ExtendAnswer[]> {
    return this.#inner.extend(requests);
  }

  async due(query: DueQuery): Promise<DueAnswer> {
    const { jobs, admitted, ...rest } = await this.#inner.due(query);
    return { jobs: this.#leaveAll(jobs), admitted: this.#leaveAll(admitted), ...rest };
  }

  prune(request: PruneRequest): Promise<PruneAnswer> {
    return this.#inner.prune(request);
  }

  onWake(listener: WakeListener): () => void {
    return this.#inner.onWake(listener);
  }

  ping(): Promise<void> {
    return this.#inner.ping();
  }

  async close(): Promise<void> {
    await this.#inner.close();
    await this.#blobs.close();
  }

  async #get(target: Pick<Store, 'get'>, keys: readonly JobKey[], overBytes?: number): Promise<(Job | null)[]> {
    const jobs = await target.get(keys);
    return Promise.all(jobs.map((job) => job && this.payloads.open(job, overBytes)));
  }

  async #list(query: JobQuery, overBytes = Number.POSITIVE_INFINITY): Promise<JobPage> {
    const page = await fittingPage(this.#inner, query, (job) => this.payloads.bytesOf(job, overBytes));
    return { ...page, items: await Promise.all(page.items.map((job) => this.payloads.open(job, overBytes))) };
  }

  #rowsOf(target: StoreWithin): StoreWithin {
    return {
      insert: async (groups, options) => {
        const sealed = groups.map(async (group) => ({ ...group, jobs: await this.#sealAll(group.jobs) }));
        const answers = await target.insert(await Promise.all(sealed), options);
        return Promise.all(answers.map((answer, index) => this.#openInserted(answer, groups[index]!.jobs)));
      },
      get: (keys) => this.#get(target, keys),
      apply: async (changes, options) => {
        const sealed = changes.map(async (change) => ({ ...change, ...(await this.#sealOne(change)) }));
        const answers = await target.apply(await Promise.all(sealed), options);
        return answers.map((answer) =>
          answer.status === 'applied' ? { ...answer, admitted: this.#leaveAll(answer.admitted) } : answer,
        );
      },
      records: target.records,
    };
  }

  #leaveAll(jobs: readonly Job[]): Job[] {
    return jobs.map((job) => this.payloads.leave(job));
  }

  async #sealOne({ job, events }: Pick<Change, 'job' | 'events'>): Promise<Pick<Change, 'job' | 'events'>> {
    const [sealed, sealedEvents] = await Promise.all([this.payloads.seal(job), this.payloads.sealEvents(events)]);
    return { job: sealed, events: sealedEvents };
  }

  async #sealNew(made: NewJob): Promise<NewJob> {
    const sealed = { ...made, ...(await this.#sealOne(made)) };
    const { unique } = made;
    if (!unique?.replace) return sealed;
    return {
      ...sealed,
      unique: { ...unique, replace: { ...unique.replace, ...(await this.#sealOne(unique.replace)) } },
    };
  }

  #sealAll(made: readonly NewJob[]): Promise<NewJob[]> {
    return Promise.all(made.map((one) => this.#sealNew(one)));
  }

  async #openInserted(answer: InsertAnswer, made: readonly NewJob[]): Promise<InsertAnswer> {
    if (answer.status === 'closed' || answer.status === 'named') return answer;
    if (answer.status !== 'inserted') {
      const job = await this.payloads.open(answer.job);
      if (answer.status !== 'taken' || !answer.others) return { ...answer, job };
      const opened = answer.others.map(async (other) => ({ ...other, job: await this.payloads.open(other.job) }));
      return { ...answer, job, others: await Promise.all(opened) };
    }
    return { ...answer, ...this.#withOwn(answer, made) };
  }

  /** The payloads are those that the caller has just brought, so none is fetched. */
  #withOwn({ jobs, admitted }: Stored, made: readonly NewJob[]): Stored {
    const brought = new Map(made.map(({ job }) => [job.id, job]));
    const whole = jobs.map((job) => {
      const { spec, result, errors } = brought.get(job.id)!;
      return { ...job, spec, result, errors };
    });
    return { jobs: whole, admitted: this.#leaveAll(admitted) };
  }

  #eventsOf({ events }: Store): EventLog {
    return {
      read: async (query) => {
        const page = fittingEvents(await events.read(query));
        return { ...page, events: await Promise.all(page.events.map((event) => this.payloads.openEvent(event))) };
      },
      end: () => events.end(),
      tell: (told) => events.tell(told),
    };
  }

  #reportsOf({ reports }: Store): ReportStore {
    return {
      add: async (requests) => {
        const answers = await reports.add(await Promise.all(requests.map((request) => this.#sealReport(request))));
        return Promise.all(
          answers.map(async (answer) =>
            answer.status === 'noted' ? { ...answer, progress: await this.#openProgress(answer.progress) } : answer,
          ),
        );
      },
      get: async (keys) => Promise.all((await reports.get(keys)).map((progress) => this.#openProgress(progress))),
    };
  }

  async #sealReport(request: ReportRequest): Promise<ReportRequest> {
    const { checkpoint } = request.report;
    if (checkpoint === undefined) return request;
    const sealed = (await this.#values.seal(request, 'checkpoint', checkpoint)) as JsonObject;
    return { ...request, report: { ...request.report, checkpoint: sealed } };
  }

  /** A checkpoint that is gone is none: the run begins anew. One that cannot be read now may be read later. */
  async #openProgress<T extends Progress | null>(progress: T): Promise<T> {
    if (!progress?.checkpoint) return progress;
    const { value, lack } = await this.#values.open(progress, progress.checkpoint);
    if (lack?.cause !== undefined) throw lackError(progress, lack);
    return { ...progress, checkpoint: lack ? null : (value as JsonObject) };
  }

  #workflowsOf({ workflows }: Store): WorkflowStore {
    return {
      get: (tenant, id) => workflows.get(tenant, id),
      list: (query) => workflows.list(query),
      hasUnfinished: (tenant, id) => workflows.hasUnfinished(tenant, id),
      meet: async (parents) => this.#leaveAll(await workflows.meet(parents)),
      waiting: async (parents) => this.#leaveAll(await workflows.waiting(parents)),
      parents: async (children) => {
        const families = await workflows.parents(children);
        const openOne = async (one: (typeof families)[number][number]) => ({
          ...one,
          result: await this.#openResult({ tenant: children.tenant, id: one.id }, one.result),
        });
        // Those behind a join have one family, which is opened once.
        const opened = new Map([...new Set(families)].map((family) => [family, Promise.all(family.map(openOne))]));
        return Promise.all(families.map((family) => opened.get(family)!));
      },
      move: async (request) => {
        const answer = await workflows.move({ ...request, jobs: await this.#sealAll(request.jobs) });
        return answer.status === 'moved' ? { ...answer, ...this.#withOwn(answer, request.jobs) } : answer;
      },
    };
  }

  async #openResult(key: JobKey, stored: Json | null): Promise<Json | null> {
    const { value, lack } = await this.#values.open(key, stored);
    if (lack?.cause !== undefined) throw lackError(key, lack);
    return value;
  }

  #limitsOf({ limits }: Store): LimitStore {
    return {
      get: (tenant, key) => limits.get(tenant, key),
      set: async (tenant, key, rule, now) => {
        const { admitted } = await limits.set(tenant, key, rule, now);
        return { admitted: this.#leaveAll(admitted) };
      },
    };
  }

  #cronsOf({ crons }: Store): CronStore {
    return {
      put: (cron, told) => crons.put(cron, told),
      get: (tenant, name) => crons.get(tenant, name),
      enable: (request, told) => crons.enable(request, told),
      list: (tenant) => crons.list(tenant),
      remove: (tenant, name, told) => crons.remove(tenant, name, told),
      fire: async ({ job, ...request }) => {
        const answer = await crons.fire(job ? { ...request, job: await this.#sealNew(job) } : request);
        return answer.status === 'fired' ? { ...answer, ...this.#withOwn(answer, job ? [job] : []) } : answer;
      },
    };
  }
}
