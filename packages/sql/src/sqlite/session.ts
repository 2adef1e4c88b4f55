import type { DatabaseSync } from 'node:sqlite';
import { countedAs, isForgotten, numbered, type Told } from '@waybill/core';
import { decodeEvents, encodeEvent, foldEvents } from '../event-codec.ts';
import { isInTransaction } from './older-node.ts';
import { prepareAll, type Queries } from './queries.ts';

/** A segment is read as a whole, so it stays small however much one transaction did. */
const EVENTS_PER_SEGMENT = 1000;

/** Other processes may prune the row of a queue that this one knows. */
const QUEUE_KNOWN_MS = 3_600_000;

const ENDS = ['completed', 'cancelled', 'discarded'];

interface End {
  tenant: string;
  queue: string;
  state: string;
}

/** What the calls of one transaction share: the statements, and what is written and told once at its end. */
export class Session {
  readonly db: DatabaseSync;
  readonly sql: Queries;
  /** Queues that had their row, by `tenant` and name, and when. Pruning may have removed it since. */
  readonly #knownQueues = new Map<string, number>();
  #newQueues: { key: string; now: number }[] = [];
  #events: string[] = [];
  #newestAt = 0;
  #ends: End[] = [];
  #limited: { queues: boolean; tenants: boolean } | null = null;
  /** Tenants with a limit of which runs have ended. */
  #freed = new Set<string>();
  #forgetful: ReadonlySet<string> | null = null;
  #woken = new Set<string>();
  #grown = new Set<string>();

  constructor(db: DatabaseSync) {
    this.db = db;
    this.sql = prepareAll(db);
  }

  begin(mode: 'immediate' | 'deferred'): void {
    this.#events = [];
    this.#newestAt = 0;
    this.#newQueues = [];
    this.#ends = [];
    this.queueSettingsChanged();
    this.#woken = new Set();
    if (this.#grown.size > 0) this.#grown = new Set();
    this.#freed = new Set();
    this.db.exec(`begin ${mode}`);
  }

  /** Writes totals and log and commits; answers the queues that may have got something to claim. */
  commit(): string[] {
    this.#writeTotals();
    for (let from = 0; from < this.#events.length; from += EVENTS_PER_SEGMENT) {
      const part = this.#events.slice(from, from + EVENTS_PER_SEGMENT);
      this.sql['segment-append'].run(this.#newestAt, part.length, `[${foldEvents(part).join(',')}]`);
    }
    for (const tenant of this.#freed) this.#wakeAll(tenant);
    this.db.exec('commit');
    for (const { key, now } of this.#newQueues) this.#knownQueues.set(key, now);
    return [...this.#woken];
  }

  /** False once SQLite has rolled back by itself, as it does when the disk is full or fails, or memory runs out. */
  get isOpen(): boolean {
    return isInTransaction(this.db);
  }

  /** Never throws, because the transaction may be gone already and the caller has an error of its own to tell. */
  rollback(): void {
    try {
      this.db.exec('rollback');
    } catch {}
  }

  /**
   * Runs `work` all or nothing inside the transaction; what it throws leaves no trace. When the work cannot be undone
   * alone, the whole transaction ends: look at `isOpen` after a failure.
   */
  attempt<T>(work: () => T): T {
    const events = this.#events.length;
    const queues = this.#newQueues.length;
    const ends = this.#ends.length;
    this.db.exec('savepoint attempt');
    try {
      const answer = work();
      this.db.exec('release attempt');
      return answer;
    } catch (error) {
      this.#undoAttempt();
      this.#events.length = events;
      this.#newQueues.length = queues;
      this.#ends.length = ends;
      this.queueSettingsChanged();
      throw error;
    }
  }

  #undoAttempt(): void {
    try {
      this.db.exec('rollback to attempt');
      this.db.exec('release attempt');
    } catch {
      // The savepoint went with the transaction, or the disk fails again. The first error is the one to tell.
      this.rollback();
    }
  }

  /** Notes encoded events; they are written with the commit, as one row. */
  log(events: readonly string[], at: number): void {
    const forgetful = this.#forgetfulQueues();
    for (const event of events) if (forgetful.size === 0 || this.#isKept(event)) this.#events.push(event);
    if (at > this.#newestAt) this.#newestAt = at;
  }

  /** Notes an event of something that is not a job, with the number that comes next. */
  tell(told: Told): void {
    const { tenant, kind, subject } = countedAs(told);
    const [count] = this.sql['subject-count'].get<[number]>(tenant, kind, subject, told.at)!;
    this.log([encodeEvent(numbered(told, count - 1))], told.at);
  }

  /** Jobs of this queue may have become claimable. A hint: one too many does no harm. */
  wake(queue: string): void {
    this.#woken.add(queue);
  }

  /** The journal of this job has grown: a hint, as above. */
  noteGrown(id: string): void {
    this.#grown.add(id);
  }

  /** Jobs whose journals the last transaction has added to. */
  get grown(): { grown?: string[] } {
    return this.#grown.size === 0 ? {} : { grown: [...this.#grown] };
  }

  /** More jobs of the tenant may start, whichever queue they are in. */
  wakeTenant(tenant: string): void {
    this.#freed.add(tenant);
  }

  #wakeAll(tenant: string): void {
    for (const [queue] of this.sql['tenant-ready'].all<[string]>(tenant)) this.wake(queue);
  }

  /** Sees to it that the queue is listed; costs nothing once this thread has seen it, for an hour. */
  noteQueue(tenant: string, name: string, now: number): void {
    const key = keyOf(tenant, name);
    const knownAt = this.#knownQueues.get(key);
    if (knownAt !== undefined && Math.abs(now - knownAt) < QUEUE_KNOWN_MS) return;
    if (this.#newQueues.some((noted) => noted.key === key)) return;
    this.sql['queue-note'].run(tenant, name, now);
    this.#newQueues.push({ key, now });
  }

  /** The row of the queue was removed, or will be with this transaction. */
  forgetQueue(tenant: string, name: string): void {
    this.#knownQueues.delete(keyOf(tenant, name));
  }

  /** A job has ended. Totals are written with the commit, one row per queue however many ended. */
  noteEnd(tenant: string, queue: string, state: string): void {
    this.#ends.push({ tenant, queue, state });
  }

  #writeTotals(): void {
    const totals = new Map<string, [tenant: string, queue: string, ...counts: number[]]>();
    for (const { tenant, queue, state } of this.#ends) {
      const key = keyOf(tenant, queue);
      const row = totals.get(key) ?? [tenant, queue, ...ENDS.map(() => 0)];
      const column = 2 + ENDS.indexOf(state);
      row[column] = (row[column] as number) + 1;
      totals.set(key, row);
    }
    for (const row of totals.values()) this.sql['queue-totals'].run(...row, this.#newestAt);
  }

  /**
   * Whether a queue of this file has a limit: only then it matters where a job comes from and goes to. Asked once per
   * transaction and not kept any longer, since other processes may set one.
   */
  hasLimitedQueues(): boolean {
    return this.#limits().queues;
  }

  /** The same of tenants. */
  hasLimitedTenants(): boolean {
    return this.#limits().tenants;
  }

  #limits(): { queues: boolean; tenants: boolean } {
    if (this.#limited === null) {
      const [queues, tenants] = this.sql['queues-any-limited'].get<[number, number]>()!;
      this.#limited = { queues: queues === 1, tenants: tenants === 1 };
    }
    return this.#limited;
  }

  /** Whether completed jobs of the queue go at once. */
  forgets(tenant: string, queue: string): boolean {
    const forgetful = this.#forgetfulQueues();
    return forgetful.size > 0 && forgetful.has(keyOf(tenant, queue));
  }

  queueSettingsChanged(): void {
    this.#limited = null;
    this.#forgetful = null;
  }

  #forgetfulQueues(): ReadonlySet<string> {
    this.#forgetful ??= new Set(
      this.sql['queues-forgetful'].all<[string, string]>().map(([tenant, name]) => keyOf(tenant, name)),
    );
    return this.#forgetful;
  }

  #isKept(encoded: string): boolean {
    const [event] = decodeEvents(`[${encoded}]`);
    const { type, tenant, queue } = event!;
    return !(isForgotten(type) && queue !== undefined && this.forgets(tenant, queue));
  }
}

const keyOf = (tenant: string, name: string): string => `${tenant}\n${name}`;
