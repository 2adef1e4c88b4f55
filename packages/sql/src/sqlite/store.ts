import { resolve } from 'node:path';
import {
  type ApplyAnswer,
  type Change,
  type ClaimAnswer,
  type ClaimByIdRequest,
  type ClaimRequest,
  type Clock,
  type CronStore,
  checkNodeVersion,
  claimedOf,
  type DueAnswer,
  type DueQuery,
  type EventLog,
  type ExtendAnswer,
  type ExtendRequest,
  type InsertAnswer,
  type InsertedAndClaimed,
  type InsertGroup,
  invalidField,
  type Job,
  type JobFilter,
  type JobKey,
  type JobPage,
  type JobQuery,
  type JournalStore,
  type LimitStore,
  type LockStore,
  type Logger,
  lockStore,
  type OpeningQuery,
  type PruneAnswer,
  type PruneRequest,
  type QueueStore,
  type RecordStore,
  type ReportStore,
  readEach,
  readPage,
  recordStore,
  type Store,
  type StoreCapabilities,
  stderrLogger,
  systemClock,
  type WakeListener,
  type WorkerStore,
  type WorkflowStore,
} from '@waybill/core';
import { newestAt } from '../event-codec.ts';
import { applyAnswer, applyMessage, groupMessage, insertAnswer } from './messages.ts';
import {
  cronStore,
  eventLog,
  journalStore,
  limitStore,
  lockTable,
  queueStore,
  recordTable,
  reportStore,
  workerStore,
  workflowStore,
} from './parts.ts';
import { IN_MEMORY } from './protocol.ts';
import { fromRow } from './rows.ts';
import { ThreadLink } from './thread-link.ts';

export interface SqliteOptions {
  /** A file, created with its folder where it does not exist, or `:memory:`. */
  path: string;
  /**
   * `full`: what a call has answered survives a power cut. `normal`: it survives a crash of the process, but the last
   * moments before a power cut may be lost.
   * @defaultValue 'full'
   */
  durability?: 'full' | 'normal';
  /** @defaultValue systemClock */
  clock?: Clock;
  /** @defaultValue stderrLogger */
  logger?: Logger;
  /** How often to look whether another process wrote to the file. @defaultValue 25 */
  wakeEveryMs?: number;
  /** How long a call waits for other processes that write to the file. @defaultValue 10000 */
  busyTimeoutMs?: number;
}

const DEFAULTS = {
  durability: 'full',
  clock: systemClock,
  logger: stderrLogger,
  wakeEveryMs: 25,
  busyTimeoutMs: 10_000,
} satisfies Omit<Required<SqliteOptions>, 'path'>;

/** While a row is written everything else waits for the file; larger ones belong into a blob store. */
const MOST_JOURNAL_BYTES = 4 * 1_024 * 1_024;

/** A store in one SQLite file. Several processes on one machine may share it. */
export async function sqliteStore(options: SqliteOptions): Promise<Store> {
  checkNodeVersion();
  const { clock, logger, durability, wakeEveryMs, busyTimeoutMs } = { ...DEFAULTS, ...options };
  // SQLite takes an empty path for a temporary file that is gone when it is closed.
  if (options.path === '') throw invalidField('path', 'must name a file');
  // Absolute, since the file may be opened again after the process has changed its folder.
  const path = options.path === IN_MEMORY ? IN_MEMORY : resolve(options.path);
  const link = new ThreadLink({ path, durability, wakeEveryMs, busyTimeoutMs }, logger);
  await link.call('ping', null);
  return new SqliteStore(link, clock, path !== IN_MEMORY);
}

class SqliteStore implements Store {
  readonly capabilities: StoreCapabilities;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly reports: ReportStore;
  readonly journal: JournalStore;
  readonly queues: QueueStore;
  readonly limits: LimitStore;
  readonly workflows: WorkflowStore;
  readonly workers: WorkerStore;
  readonly crons: CronStore;
  readonly records: RecordStore;
  readonly locks: LockStore;
  readonly #link: ThreadLink;

  constructor(link: ThreadLink, clock: Clock, isShared: boolean) {
    this.#link = link;
    this.clock = clock;
    this.capabilities = {
      name: 'sqlite',
      maxBatch: 500,
      // One to run and one to prepare meanwhile.
      parallelFlushes: 2,
      ordering: 'strict',
      search: true,
      eventLagMs: 0,
      pruneLagMs: 0,
      wakesAcrossProcesses: isShared,
      maxJournalBytes: MOST_JOURNAL_BYTES,
    };
    this.events = eventLog(link);
    this.reports = reportStore(link);
    this.journal = journalStore(link);
    this.queues = queueStore(link);
    this.limits = limitStore(link);
    this.workflows = workflowStore(link);
    this.workers = workerStore(link);
    this.crons = cronStore(link, clock);
    this.records = recordStore(recordTable(link), clock);
    this.locks = lockStore(lockTable(link), clock);
  }

  async insert(groups: readonly InsertGroup[]): Promise<InsertAnswer[]> {
    const at = Math.max(0, ...groups.map(({ jobs }) => newestAt(jobs)));
    const replies = await this.#link.call('insert', { groups: groups.map(groupMessage), at, now: this.clock.now() });
    return replies.map((reply, index) => insertAnswer(reply, groups[index]!));
  }

  async get(keys: readonly JobKey[]): Promise<(Job | null)[]> {
    const rows = await this.#link.call('get', keys);
    return rows.map((row) => row && fromRow(row));
  }

  async list(query: JobQuery): Promise<JobPage> {
    const { rows, cursor } = await this.#link.call('list', query);
    const page = readPage(rows, fromRow, ([, id]) => id);
    return cursor === null ? page : { ...page, cursor };
  }

  count(filter: JobFilter, { atMost }: { atMost: number }): Promise<number> {
    return this.#link.call('count', { filter, atMost });
  }

  async claim(requests: readonly ClaimRequest[]): Promise<Job[][]> {
    const answers = await this.#link.call('claim', requests);
    return answers.map((rows, index) => {
      const { read, unreadable } = readEach(rows, fromRow, () => ({}));
      // Leased to nobody, until the sweep names them; their place must not look like the end of the queue.
      if (unreadable.length > 0) this.#link.wake(requests[index]!.queues);
      return read;
    });
  }

  /** What is sent together shares a transaction, and comes to its turn in order. */
  async insertAndClaim(group: InsertGroup, request: ClaimRequest): Promise<InsertedAndClaimed> {
    const [[answer], [claimed]] = await Promise.all([this.insert([group]), this.claim([request])]);
    return { answer: answer!, claimed: claimed! };
  }

  async claimById(request: ClaimByIdRequest): Promise<ClaimAnswer[]> {
    const replies = await this.#link.call('claimById', request);
    return replies.map((reply) => (typeof reply === 'string' ? { status: reply } : claimedOf(() => fromRow(reply))));
  }

  opensAt(query: OpeningQuery): Promise<number | null> {
    return this.#link.call('opensAt', query);
  }

  async apply(changes: readonly Change[]): Promise<ApplyAnswer[]> {
    const at = newestAt(changes);
    const replies = await this.#link.call('apply', { changes: changes.map(applyMessage), at, now: this.clock.now() });
    return replies.map(applyAnswer);
  }

  extend(requests: readonly ExtendRequest[]): Promise<ExtendAnswer[]> {
    return this.#link.call('extend', requests);
  }

  async due(query: DueQuery): Promise<DueAnswer> {
    const { rows, admitted, unreadable, ...answer } = await this.#link.call('due', query);
    const [due, letIn] = [rows, admitted].map((some) =>
      readEach(some, fromRow, ([tenant, id]) => ({ kind: 'job', tenant, id })),
    );
    return {
      ...answer,
      jobs: due!.read,
      admitted: letIn!.read,
      unreadable: [...unreadable, ...due!.unreadable, ...letIn!.unreadable],
    };
  }

  prune(request: PruneRequest): Promise<PruneAnswer> {
    return this.#link.call('prune', { ...request, now: this.clock.now() });
  }

  onWake(listener: WakeListener): () => void {
    return this.#link.onWake(listener);
  }

  async ping(): Promise<void> {
    await this.#link.call('ping', null);
  }

  close(): Promise<void> {
    return this.#link.close();
  }
}
