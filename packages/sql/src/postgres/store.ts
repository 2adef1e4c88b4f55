import {
  type ApplyAnswer,
  type Change,
  type ClaimAnswer,
  type ClaimByIdRequest,
  type ClaimRequest,
  type Clock,
  type CronStore,
  checkNodeVersion,
  type DueAnswer,
  type DueQuery,
  type EventLog,
  type ExtendAnswer,
  type ExtendRequest,
  type InsertAnswer,
  type InsertedAndClaimed,
  type InsertGroup,
  type Job,
  type JobFilter,
  type JobKey,
  type JobPage,
  type JobQuery,
  type JournalStore,
  type LimitStore,
  type LockStore,
  lockStore,
  type OpeningQuery,
  type PruneAnswer,
  type PruneRequest,
  type QueueStore,
  type RecordStore,
  type ReportStore,
  recordStore,
  type Store,
  type StoreCapabilities,
  type StoreWithin,
  stderrLogger,
  type Transaction,
  type WakeListener,
  type WorkerStore,
  type WorkflowStore,
  type WriteOptions,
} from '@waybill/core';
import { apply } from './apply.ts';
import type { Base } from './base.ts';
import { Bell } from './bell.ts';
import { claim, claimById } from './claim.ts';
import { cronStore } from './crons.ts';
import { due } from './due.ts';
import { eventLog } from './events.ts';
import { extend } from './extend.ts';
import { Floors } from './floors.ts';
import { get } from './get.ts';
import { GrownNotifier } from './grown-notifier.ts';
import { insert } from './insert.ts';
import { insertAndClaim } from './insert-and-claim.ts';
import { journalStore, MOST_JOURNAL_BYTES } from './journal.ts';
import { KnownQueues } from './known-queues.ts';
import { limitStore } from './limits.ts';
import { checkPostgresOptions } from './link/check-options.ts';
import { openLink } from './link/open-link.ts';
import type { PostgresOptions } from './link/options.ts';
import { count, list } from './list.ts';
import { lockTable } from './locks.ts';
import { OldDays } from './old-days.ts';
import { prune } from './prune.ts';
import { readAll } from './queries.ts';
import { opensAt, queueStore } from './queues.ts';
import { recordTable } from './records.ts';
import { reportStore } from './reports.ts';
import { Upkeep } from './upkeep.ts';
import { storeWithin } from './within.ts';
import { workerStore } from './workers.ts';
import { workflowStore } from './workflows.ts';

const DAY_MS = 86_400_000;

export interface PostgresStoreOptions extends PostgresOptions {
  /**
   * How much longer than the retention says a finished job may be kept: jobs are dropped by the day, and only what
   * others of its day outlive is removed by itself, so much later. @defaultValue one day
   */
  pruneLagMs?: number;
  /**
   * From how many jobs on a claim keeps the runs of its plain ones in one row instead of one for each. Fewer are hardly
   * faster so, and cost more when somebody asks for one of them. @defaultValue 16
   */
  bundleFrom?: number;
}

const BUNDLE_FROM = 16;

/**
 * What happens to every job, or each second, or whenever a run says something. Each is the call of a function that tells the planner what it must not
 * choose: the plan of any other text would be kept from when the tables were empty. None answers `*`, which a migration
 * may change meanwhile.
 */
const OFTEN = [
  'insert',
  'insert-one',
  'insert-keyed',
  'claim',
  'claim-one',
  'insert-and-claim',
  'finish',
  'extend',
  'due-at',
  'bundles-due',
  'journal-append',
  'journal-read',
] as const;

/** A store in one schema of a PostgreSQL database. Any number of processes may share it. */
export async function postgresStore(options: PostgresStoreOptions): Promise<Store> {
  checkNodeVersion();
  checkPostgresOptions(options, ['pruneLagMs', 'bundleFrom']);
  const link = await openLink(options);
  const floors = new Floors(link.clock);
  const sql = readAll((text) => link.sql(text));
  const bell = new Bell(link, floors, sql.notify);
  const bundleFrom = options.bundleFrom ?? BUNDLE_FROM;
  const base: Base = {
    link,
    sql,
    floors,
    bell,
    bundleFrom,
    knownQueues: new KnownQueues(link.clock),
    unlimited: new Set(),
  };
  const logger = options.logger ?? stderrLogger;
  const upkeep = new Upkeep(base, logger);
  try {
    await link.query(sql['log-adopt']);
    await link.prepare(OFTEN.map((name) => sql[name]));
    await upkeep.run();
  } catch (error) {
    await link.close();
    throw error;
  }
  return new PostgresStore(base, upkeep, new OldDays(link, logger), options.pruneLagMs ?? DAY_MS);
}

class PostgresStore implements Store {
  readonly capabilities: StoreCapabilities;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly reports: ReportStore;
  readonly queues: QueueStore;
  readonly limits: LimitStore;
  readonly workflows: WorkflowStore;
  readonly workers: WorkerStore;
  readonly crons: CronStore;
  readonly records: RecordStore;
  readonly locks: LockStore;
  readonly journal: JournalStore;
  readonly #base: Base;
  readonly #upkeep: Upkeep;
  readonly #oldDays: OldDays;
  readonly #grown: GrownNotifier;

  constructor(base: Base, upkeep: Upkeep, oldDays: OldDays, pruneLagMs: number) {
    this.#base = base;
    this.#upkeep = upkeep;
    this.#oldDays = oldDays;
    this.clock = base.link.clock;
    this.capabilities = {
      name: 'postgres',
      maxBatch: 500,
      // One to run and one to prepare meanwhile.
      parallelFlushes: 2,
      ordering: 'strict',
      search: true,
      eventLagMs: 0,
      wakesAcrossProcesses: base.link.listens,
      maxJournalBytes: MOST_JOURNAL_BYTES,
      pruneLagMs,
    };
    this.events = eventLog(base);
    this.reports = reportStore(base);
    this.queues = queueStore(base);
    this.limits = limitStore(base);
    this.workflows = workflowStore(base);
    this.workers = workerStore(base);
    this.crons = cronStore(base);
    this.records = recordStore(recordTable(base), this.clock);
    this.locks = lockStore(lockTable(base), this.clock);
    this.#grown = new GrownNotifier(base.link, base.sql['journal-notify']);
    this.journal = journalStore(base, this.#grown);
  }

  insert(groups: readonly InsertGroup[], options?: WriteOptions): Promise<InsertAnswer[]> {
    return insert(this.#base, groups, options);
  }

  get(keys: readonly JobKey[]): Promise<(Job | null)[]> {
    return get(this.#base, keys);
  }

  list(query: JobQuery): Promise<JobPage> {
    return list(this.#base, query);
  }

  count(filter: JobFilter, bound: { atMost: number }): Promise<number> {
    return count(this.#base, filter, bound);
  }

  claim(requests: readonly ClaimRequest[]): Promise<Job[][]> {
    return claim(this.#base, requests);
  }

  opensAt(query: OpeningQuery): Promise<number | null> {
    return opensAt(this.#base, query);
  }

  insertAndClaim(group: InsertGroup, request: ClaimRequest): Promise<InsertedAndClaimed> {
    return insertAndClaim(this.#base, group, request);
  }

  claimById(request: ClaimByIdRequest): Promise<ClaimAnswer[]> {
    return claimById(this.#base, request);
  }

  apply(changes: readonly Change[], options?: WriteOptions): Promise<ApplyAnswer[]> {
    return apply(this.#base, changes, options);
  }

  extend(requests: readonly ExtendRequest[]): Promise<ExtendAnswer[]> {
    return extend(this.#base, requests);
  }

  closeSoon(): void {
    this.#base.link.closeSoon();
  }

  async useReminders(firstMs: number): Promise<void> {
    await this.#base.link.query(this.#base.sql.remind, [firstMs]);
  }

  async due(query: DueQuery): Promise<DueAnswer> {
    await this.#upkeep.tryRun();
    return due(this.#base, query);
  }

  prune(request: PruneRequest): Promise<PruneAnswer> {
    return prune(this.#base, this.#oldDays, request, this.capabilities.pruneLagMs);
  }

  within(transaction: Transaction): StoreWithin {
    return storeWithin(this.#base, transaction);
  }

  onWake(listener: WakeListener): () => void {
    return this.#base.link.onWake(listener);
  }

  async ping(): Promise<void> {
    await this.#base.link.query('select 1');
  }

  close(): Promise<void> {
    this.#base.bell.close();
    this.#grown.close();
    return this.#base.link.close();
  }
}
