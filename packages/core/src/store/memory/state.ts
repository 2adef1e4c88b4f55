import type { Clock } from '../../clock.ts';
import type { LogEvent } from '../../events/job-event.ts';
import { countedAs, numbered, type Told } from '../../events/subject-event.ts';
import { isFinished, type Job } from '../../job/job.ts';
import type { Progress } from '../../job/progress.ts';
import type { LimitRule } from '../../limits/limit.ts';
import type { Window } from '../../limits/window.ts';
import type { CronRecord } from '../crons.ts';
import type { Edge } from '../insert.ts';
import type { GrownListener, JournalBatch } from '../journal.ts';
import type { LockRow } from '../locks.ts';
import { isForgotten, type QueueInfo } from '../queues.ts';
import type { RecordRow } from '../record-table.ts';
import type { WakeListener } from '../store.ts';
import type { WorkerInfo } from '../workers.ts';
import type { WorkflowRecord } from '../workflow-record.ts';

/** Two texts as one map key; JSON, since neither text can then pretend to be part of the other. */
export const keyOf = (tenant: string, name: string): string => JSON.stringify([tenant, name]);

/** Holders are counted from the rows, so that they cannot disagree with them; only starts leave no row behind. */
export interface LimitState {
  tenant: string;
  key: string;
  rule: LimitRule | null;
  window: Window;
  /** Whether the rule was set by itself, and did not come with a job: such a limit is never removed. */
  isSetting: boolean;
  usedAt: number;
}

export interface QueueState {
  info: QueueInfo;
  window: Window;
  /** Every end that ever came, also of jobs that were replayed or pruned since. */
  ended: { completed: number; cancelled: number; discarded: number };
  usedAt: number;
}

/** Without a value the record was removed. */
export type RecordState = Omit<RecordRow, 'json'> & { json: string | null };

/** `weight`: of the journal of the job up to this batch. */
export type JournalState = JournalBatch & { weight: number };

export type EdgeState = Edge & { tenant: string; met: boolean };

/** Everything the model knows. Verbs read and write it directly: each runs to its end before the next begins. */
export class MemoryState {
  readonly clock: Clock;
  readonly jobs = new Map<string, Job>();
  /** In commit order; positions are never used again, so a cursor survives pruning. */
  log: { position: number; event: LogEvent }[] = [];
  /** In the order given, which is the order in which children see their parents. */
  edges: EdgeState[] = [];
  /** From a unique key to the id of its newest job. */
  readonly owners = new Map<string, string>();
  readonly progress = new Map<string, Progress>();
  /** By job, in the order in which they came. */
  readonly journals = new Map<string, JournalState[]>();
  readonly limits = new Map<string, LimitState>();
  readonly queues = new Map<string, QueueState>();
  /** How many jobs of a tenant may be active at once. */
  readonly tenantLimits = new Map<string, number>();
  readonly workers = new Map<string, WorkerInfo>();
  /** Which start of a worker was seen last, and which one its directive was given to. */
  readonly workerInstances = new Map<string, { seen: string | undefined; directed: string | undefined }>();
  readonly workflows = new Map<string, WorkflowRecord>();
  readonly crons = new Map<string, CronRecord>();
  /** With those that have expired or were removed, for their versions. */
  readonly records = new Map<string, RecordState>();
  readonly locks = new Map<string, LockRow>();
  /** How many events there were of what is not a job. */
  readonly counts = new Map<string, { count: number; toldAt: number }>();
  readonly listeners = new Set<WakeListener>();
  readonly grownListeners = new Set<GrownListener>();
  lastPosition = 0;
  /** The newest position that was ever pruned. */
  prunedPosition = 0;
  #woken = new Set<string>();
  #grown = new Set<string>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  get(tenant: string, id: string): Job | undefined {
    return this.jobs.get(keyOf(tenant, id));
  }

  rows(): Job[] {
    return [...this.jobs.values()];
  }

  ownerOf(tenant: string, uniqueKey: string): Job | undefined {
    const id = this.owners.get(keyOf(tenant, uniqueKey));
    return id === undefined ? undefined : this.get(tenant, id);
  }

  queue(tenant: string, name: string): QueueState {
    const fresh = (): QueueState => ({
      info: { tenant, name, paused: false, keep: 'all', limit: null },
      window: [],
      ended: { completed: 0, cancelled: 0, discarded: 0 },
      usedAt: this.clock.now(),
    });
    return orMake(this.queues, keyOf(tenant, name), fresh);
  }

  limit(tenant: string, key: string): LimitState {
    const usedAt = this.clock.now();
    const fresh = (): LimitState => ({ tenant, key, rule: null, window: [], isSetting: false, usedAt });
    return orMake(this.limits, keyOf(tenant, key), fresh);
  }

  /** The one way in which a row changes: with its events, and noting what became claimable. */
  write(job: Job, events: readonly LogEvent[] = []): void {
    const before = this.get(job.tenant, job.id);
    this.jobs.set(keyOf(job.tenant, job.id), job);
    const queue = this.queue(job.tenant, job.queue);
    const forgets = queue.info.keep === 'none';
    this.tell(forgets ? events.filter(({ type }) => !isForgotten(type)) : events);
    const isKept = job.workflowId !== null || job.advancePending;
    if (forgets && job.state === 'completed' && !isKept) this.forget(job.tenant, job.id);
    if (isFinished(job.state) && before?.state !== job.state) {
      queue.ended[job.state as keyof QueueState['ended']] += 1;
      queue.usedAt = this.clock.now();
    }
    const becameClaimable = job.rank !== null && (before?.rank ?? null) === null;
    // Whoever leaves a limited queue makes room for another one.
    const hasLeft = before?.state === 'active' && job.state !== 'active';
    const madeRoom = queue.info.limit !== null && hasLeft;
    if (becameClaimable || madeRoom) this.noteWake(queue);
    if (hasLeft && this.tenantLimits.has(job.tenant)) this.noteWakeOf(job.tenant);
  }

  forget(tenant: string, id: string): void {
    this.jobs.delete(keyOf(tenant, id));
    this.progress.delete(keyOf(tenant, id));
    this.journals.delete(keyOf(tenant, id));
  }

  /** Tells of something that is not a job. */
  tellOf(told: Told): void {
    const key = JSON.stringify(countedAs(told));
    const counted = this.counts.get(key)?.count ?? 0;
    this.counts.set(key, { count: counted + 1, toldAt: told.at });
    this.tell([numbered(told, counted)]);
  }

  tell(events: readonly LogEvent[]): void {
    for (const event of events) {
      this.lastPosition += 1;
      this.log.push({ position: this.lastPosition, event });
    }
  }

  noteWake({ info }: QueueState): void {
    if (!info.paused) this.#woken.add(info.name);
  }

  /** All queues of the tenant that have something to give. */
  noteWakeOf(tenant: string): void {
    for (const job of this.rows()) {
      if (job.tenant === tenant && job.rank !== null) this.noteWake(this.queue(tenant, job.queue));
    }
  }

  /** The journal of the job with this id. */
  noteGrown(id: string): void {
    this.#grown.add(id);
  }

  /** After the change, so that a listener that looks at once finds what has come. */
  tellWoken(): void {
    if (this.#grown.size > 0) {
      const ids = [...this.#grown];
      this.#grown = new Set();
      for (const listener of [...this.grownListeners]) listener(ids);
    }
    if (this.#woken.size === 0) return;
    const queues = [...this.#woken];
    this.#woken = new Set();
    for (const listener of [...this.listeners]) listener(queues);
  }
}

function orMake<V>(map: Map<string, V>, key: string, make: () => V): V {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}
