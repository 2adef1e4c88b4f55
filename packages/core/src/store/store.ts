import type { Clock } from '../clock.ts';
import type { Job } from '../job/job.ts';
import type { ApplyAnswer, Change } from './apply.ts';
import type { ClaimAnswer, ClaimByIdRequest, ClaimRequest, InsertedAndClaimed, OpeningQuery } from './claim.ts';
import type { CronStore } from './crons.ts';
import type { EventLog } from './event-log.ts';
import type { ExtendAnswer, ExtendRequest } from './extend.ts';
import type { InsertAnswer, InsertGroup } from './insert.ts';
import type { JournalStore } from './journal.ts';
import type { LimitStore } from './limits.ts';
import type { WriteOptions } from './lock-held.ts';
import type { LockStore } from './locks.ts';
import type { PruneAnswer, PruneRequest, Retention } from './prune.ts';
import type { DueAnswer, DueQuery, JobFilter, JobKey, JobPage, JobQuery } from './query.ts';
import type { QueueStore } from './queues.ts';
import type { RecordStore } from './records.ts';
import type { ReportStore } from './reports.ts';
import type { Transaction } from './transaction.ts';
import type { WorkerStore } from './workers.ts';
import type { WorkflowStore } from './workflows.ts';

/** What a database can and cannot do, told as data so that nobody asks for its name. */
export interface StoreCapabilities {
  /** For people: shown by health checks. */
  name: string;
  /** Rows that one call of insert, apply, extend or get may carry. */
  maxBatch: number;
  /** Flushes of one kind that may be under way at once. */
  parallelFlushes: number;
  /** Whether claims follow rank exactly, or only nearly (sharded stores). */
  ordering: 'strict' | 'relaxed';
  /** False where jobs can only be claimed by id, as hints name them. @defaultValue true */
  claimsByRank?: boolean;
  /** Whether `list` may filter by every field of JobFilter. */
  search: boolean;
  /** How much later than the call's answer its events may show up in the log, for a reader that is there by then. */
  eventLagMs: number;
  /** How much longer than a PruneRequest says a finished job may be kept; 0: `prune` removes exactly what it is told. */
  pruneLagMs: number;
  /** Whether the store removes what is old by itself, so that `prune` has nothing to do. @defaultValue false */
  prunesItself?: boolean;
  /** Whether other processes' inserts reach `onWake`, and their appends `journal.onGrown`. */
  wakesAcrossProcesses: boolean;
  /** Bytes that the body of one batch of a journal may have. @defaultValue 0 */
  maxJournalBytes?: number;
  /**
   * Whether the store writes each batch of a journal by itself. Then batches of several jobs in one call save nothing, and
   * only share their failures. @defaultValue false
   */
  appendsApart?: boolean;
}

/** Told when jobs may have become claimable; a hint, never a promise. No queues means: any. */
export type WakeListener = (queues?: readonly string[]) => void;

/**
 * Keeps rows and events. Every operation is coarse and atomic as its own file says, takes a batch, and answers per
 * item: a conflict is an answer, never an exception. An exception means that the outcome is unknown, and the same
 * call may be made again: insert is idempotent by id, claim by claim id, apply by lease token.
 */
export interface Store {
  readonly capabilities: StoreCapabilities;
  /** The clock that all times in this store are measured by. */
  readonly clock: Clock;

  insert(groups: readonly InsertGroup[], options?: WriteOptions): Promise<InsertAnswer[]>;
  get(keys: readonly JobKey[]): Promise<(Job | null)[]>;
  list(query: JobQuery): Promise<JobPage>;
  count(filter: JobFilter, bound: { atMost: number }): Promise<number>;

  claim(requests: readonly ClaimRequest[]): Promise<Job[][]>;
  /**
   * When the rate of one of these queues lets go of a start that a ready job waits for; null: time alone changes
   * nothing. Where a store cannot tell, a waiting claim finds out by looking now and then.
   */
  opensAt?(query: OpeningQuery): Promise<number | null>;
  /**
   * `insert` and then `claim`, whatever came of the insert, where the store saves something by doing both at once. For
   * somebody who waits while a job comes in: it costs no second write, and nobody needs to be told of the job. Never keeps
   * the insert waiting: what others may hold up is not claimed here.
   */
  insertAndClaim?(group: InsertGroup, request: ClaimRequest): Promise<InsertedAndClaimed>;
  claimById(request: ClaimByIdRequest): Promise<ClaimAnswer[]>;
  apply(changes: readonly Change[], options?: WriteOptions): Promise<ApplyAnswer[]>;
  extend(requests: readonly ExtendRequest[]): Promise<ExtendAnswer[]>;

  due(query: DueQuery): Promise<DueAnswer>;
  prune(request: PruneRequest): Promise<PruneAnswer>;
  /**
   * What the engine was told of retention; what it was not told stays as it is. Only of stores that remove what is old by
   * themselves: they note with each end when it may go, so rows that have ended before keep their time.
   */
  keepFor?(retention: Partial<Retention>): void;

  /**
   * Told by an engine whose jobs travel by hints. Only of stores that take jobs by other ways than an engine: the rows of
   * these carry a reminder from then on, too.
   */
  useReminders?(firstMs: number): Promise<void>;

  /**
   * Told when an engine begins to close, which still reads and writes. Only of stores that repeat calls while their database is
   * away: from then on they do so for a short time only, because the parts of an engine close one after the other.
   */
  closeSoon?(): void;

  readonly events: EventLog;
  readonly reports: ReportStore;
  /** Absent where runs can say nothing. */
  readonly journal?: JournalStore;
  readonly queues: QueueStore;
  readonly limits: LimitStore;
  readonly workflows: WorkflowStore;
  readonly workers: WorkerStore;
  readonly crons: CronStore;
  /** Everything administrative is kept here, so that nothing of it needs a group of its own. */
  readonly records: RecordStore;
  readonly locks: LockStore;

  /** Only of stores that keep their rows where a caller may have a transaction of its own. */
  within?(transaction: Transaction): StoreWithin;

  /** Returns a function that ends the subscription. */
  onWake(listener: WakeListener): () => void;
  /** Resolves when the store answers; rejects with what is wrong. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * What of a store can be part of a caller's transaction: others see it from the commit on, and never after a rollback.
 * Nothing is repeated here, since what fails may have spoilt the transaction; the caller repeats it as a whole.
 */
export type StoreWithin = Pick<Store, 'insert' | 'get' | 'apply'> & { readonly records: Pick<RecordStore, 'list'> };
