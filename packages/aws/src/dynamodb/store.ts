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
  type InsertGroup,
  type Job,
  type JobFilter,
  type JobKey,
  type JobPage,
  type JobQuery,
  type JournalStore,
  type LimitStore,
  type LockStore,
  type LoggedEvent,
  lockStore,
  type OpeningQuery,
  type PruneAnswer,
  type PruneRequest,
  PruneSlice,
  type QueueStore,
  type RecordStore,
  type ReportStore,
  type Retention,
  recordStore,
  type Store,
  type StoreCapabilities,
  type WakeListener,
  WaybillError,
  type WorkerStore,
  type WorkflowStore,
} from '@waybill/core';
import type { Pulse } from '../pulse.ts';
import { ServiceClock } from '../service-clock.ts';
import { apply } from './apply.ts';
import type { Base } from './base.ts';
import { claim } from './claim.ts';
import { claimById } from './claim-by-id.ts';
import { Database } from './database.ts';
import { due } from './due.ts';
import { extend } from './extend.ts';
import { finishBatch } from './finish-batch.ts';
import { insert } from './insert.ts';
import { LARGEST_BODY } from './journal-items.ts';
import { count, list } from './list.ts';
import { Locks } from './locks.ts';
import { confirmedEvents, forgetOldSegments } from './log.ts';
import { LogWriter } from './log-writer.ts';
import { MarkTrimmer } from './mark-trimmer.ts';
import { lockTable } from './named-locks.ts';
import { observedClient } from './observed-client.ts';
import { openClient } from './open-client.ts';
import { opensAt } from './opens-at.ts';
import { LONGEST_LAG_MS, OrphanWatch } from './orphan-watch.ts';
import { settleIfOrphaned } from './orphans.ts';
import {
  cronStore,
  eventLog,
  journalStore,
  limitStore,
  queueStore,
  reportStore,
  workerStore,
  workflowStore,
} from './parts.ts';
import { pruneQueues } from './prune-queues.ts';
import { pruneWorkflows } from './prune-workflows.ts';
import { QueueBook } from './queue-book.ts';
import { readJobs } from './read.ts';
import { recordTable } from './records.ts';
import { type DynamoOptions, mergeRetention, settingsOf } from './settings.ts';
import { ensureTable } from './table.ts';
import { tablePulse } from './table-pulse.ts';
import { Wakes } from './wakes.ts';

const DAY_MS = 86_400_000;
/** Each look costs a read, and a queue goes after weeks. */
const QUEUES_PRUNED_EVERY_MS = 3_600_000;

/** Rows are DynamoDB's own to remove: within two days, as it says. Until then the store hides them. */
const CAPABILITIES: StoreCapabilities = {
  name: 'dynamodb',
  maxBatch: 250,
  parallelFlushes: 8,
  // Indexes are late by moments, and queues may have shards.
  ordering: 'relaxed',
  search: true,
  // Only after a writer died: readers do not pass its segment until it is certain what became of it.
  eventLagMs: LONGEST_LAG_MS,
  wakesAcrossProcesses: false,
  pruneLagMs: 2 * DAY_MS,
  prunesItself: true,
  maxJournalBytes: LARGEST_BODY,
  appendsApart: true,
};

/** A store in one DynamoDB table. Any number of processes may share it. */
export async function dynamoStore(options: DynamoOptions): Promise<DynamoStore> {
  checkNodeVersion();
  const settings = settingsOf(options);
  const { sdk, client, close } = await openClient(options);
  const serviceClock = options.clock ? null : new ServiceClock();
  const unwatch = serviceClock?.watch(client);
  const release = () => {
    unwatch?.();
    close();
  };
  if (serviceClock) settings.clock = serviceClock;
  try {
    // The clock has its first answer from here, before anything goes by it.
    await ensureTable(sdk, client, settings);
  } catch (error) {
    release();
    throw error;
  }
  const { observer } = options;
  const db = new Database(sdk, observer ? observedClient(client, observer) : client, settings);
  const log = new LogWriter(db, settings);
  const queues = new QueueBook(db, settings);
  const orphans = new OrphanWatch(settings.clock);
  const base: Base = {
    marks: new MarkTrimmer(db, settings, (position, segment) => settleIfOrphaned(base, position, segment)),
    ...{ db, settings, log, orphans, queues, locks: new Locks(), wakes: new Wakes() },
    finishBatch: (batch) => finishBatch(base, batch),
  };
  return new DynamoStore(base, release);
}

export class DynamoStore implements Store {
  readonly capabilities: StoreCapabilities;
  readonly clock: Clock;
  readonly events: EventLog;
  readonly queues: QueueStore;
  readonly limits: LimitStore;
  readonly workflows: WorkflowStore;
  readonly reports: ReportStore;
  readonly journal: JournalStore;
  readonly workers: WorkerStore;
  readonly crons: CronStore;
  readonly records: RecordStore;
  readonly locks: LockStore;
  readonly #base: Base;
  readonly #close: () => void;
  #queuesPrunedAt = Number.NEGATIVE_INFINITY;
  readonly #pulse: Pulse;

  constructor(base: Base, close: () => void) {
    this.#base = base;
    this.#close = close;
    this.#pulse = tablePulse(base);
    this.capabilities = { ...CAPABILITIES, claimsByRank: base.settings.claimsByRank };
    this.clock = base.settings.clock;
    this.events = eventLog(base);
    this.queues = queueStore(base);
    this.limits = limitStore(base);
    this.workflows = workflowStore(base);
    this.reports = reportStore(base);
    this.journal = journalStore(base);
    this.workers = workerStore(base);
    this.crons = cronStore(base);
    this.records = recordStore(recordTable(base), this.clock);
    this.locks = lockStore(lockTable(base), this.clock);
  }

  insert(groups: readonly InsertGroup[]): Promise<InsertAnswer[]> {
    return insert(this.#base, groups);
  }

  get(keys: readonly JobKey[]): Promise<(Job | null)[]> {
    return readJobs(this.#base, keys);
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

  claimById(request: ClaimByIdRequest): Promise<ClaimAnswer[]> {
    return claimById(this.#base, request);
  }

  apply(changes: readonly Change[]): Promise<ApplyAnswer[]> {
    return apply(this.#base, changes);
  }

  extend(requests: readonly ExtendRequest[]): Promise<ExtendAnswer[]> {
    return extend(this.#base, requests);
  }

  due(query: DueQuery): Promise<DueAnswer> {
    return due(this.#base, query);
  }

  /** For readers of the table's stream: what a segment of the log tells; null when it is not kept any more. */
  confirmedEvents(position: number): Promise<LoggedEvent[] | null> {
    return confirmedEvents(this.#base, position);
  }

  /**
   * Rows, events, workers and limits expire by themselves; what is left are the nodes of workflows, queues that nobody
   * uses, and to note how far the log has.
   */
  async prune({ limit, unusedBefore }: PruneRequest): Promise<PruneAnswer> {
    const base = this.#base;
    const slice = new PruneSlice(limit, (error) => error instanceof WaybillError && error.retryable);
    let more = false;
    await slice.takeLater('events', async () => {
      await forgetOldSegments(base);
      return 0;
    });
    const jobs = await slice.takeLater('workflows', async (left) => {
      const pruned = await pruneWorkflows(base, left);
      more ||= pruned.more;
      return pruned.jobs;
    });
    const now = this.clock.now();
    if (unusedBefore !== undefined && Math.abs(now - this.#queuesPrunedAt) >= QUEUES_PRUNED_EVERY_MS) {
      await slice.takeLater('queues', async (left) => {
        const pruned = await pruneQueues(base, Math.max(1, left));
        if (!pruned.more) this.#queuesPrunedAt = now;
        more ||= pruned.more;
        return pruned.removed;
      });
    }
    return { jobs, events: 0, more, ...slice.failed };
  }

  keepFor(retention: Partial<Retention>): void {
    const { settings } = this.#base;
    settings.retention = mergeRetention(settings.retention, retention);
  }

  onWake(listener: WakeListener): () => void {
    return this.#base.wakes.listen(listener);
  }

  ping(): Promise<void> {
    return this.#pulse.feel();
  }

  async close(): Promise<void> {
    await this.#base.marks.close();
    this.#close();
  }
}
