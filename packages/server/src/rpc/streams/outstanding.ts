import {
  type Clock,
  type EventType,
  type Job,
  type Lease,
  type LoggedEvent,
  RUN_END_EVENT_TYPES,
  type Waybill,
} from '@waybill/core';

/** Each ends a run; a replay shows that a run has ended before it. */
const ENDS: EventType[] = [...RUN_END_EVENT_TYPES, 'job.replayed'];
/** A log that cannot be read is tried again after this. */
const RETRY_MS = 1_000;
/** How long a full stream waits before it reads the rows: first, and at most. */
const ROWS_AFTER_MS = 1_000;
const ROWS_AFTER_MOST_MS = 10_000;

interface OutstandingParts {
  /** Not that of the caller, who need not have the right to read. */
  waybill: Waybill;
  clock: Clock;
  tenant: string;
  queues: readonly string[];
  signal: AbortSignal;
  onFailed(error: unknown): void;
}

/**
 * The jobs that a stream has delivered and that are not over. The log reports how they end, whichever server they end on.
 * A full stream reads their rows as well, because a queue that keeps nothing writes no such events.
 */
export class Outstanding {
  readonly #parts: OutstandingParts;
  readonly #runs = new Map<string, Lease>();
  #wake = () => {};

  constructor(parts: OutstandingParts) {
    this.#parts = parts;
    parts.signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  get size(): number {
    return this.#runs.size;
  }

  get leases(): Lease[] {
    return [...this.#runs.values()];
  }

  has(id: string): boolean {
    return this.#runs.has(id);
  }

  add(lease: Lease): void {
    this.#runs.set(lease.job.id, lease);
  }

  /** Call it before the first claim: what ends after this is in what it reads. */
  async watch(): Promise<void> {
    const { waybill } = this.#parts;
    const after = await waybill.events.end();
    void this.#follow(after);
  }

  /** Until the signal, whatever happens to the store in between. */
  async #follow(begin: string): Promise<void> {
    const { waybill, clock, tenant, queues, signal, onFailed } = this.#parts;
    const filter = { tenant, queues, types: ENDS };
    const onMissed = () => void this.#look().catch(onFailed);
    for (let after = begin; !signal.aborted; ) {
      try {
        for await (const event of waybill.events.follow({ after, filter, signal, onMissed })) {
          after = event.cursor;
          this.#ended(event);
        }
      } catch (error) {
        onFailed(error);
      }
      await clock.sleep(RETRY_MS, signal);
    }
  }

  /** Resolves when fewer than so many are left, or with the signal. */
  async fewerThan(most: number): Promise<void> {
    const { clock, signal, onFailed } = this.#parts;
    for (let waitMs = ROWS_AFTER_MS; this.#runs.size >= most && !signal.aborted; ) {
      const woken = new AbortController();
      this.#wake = () => woken.abort();
      await clock.sleep(waitMs, woken.signal);
      if (woken.signal.aborted) continue;
      waitMs = Math.min(waitMs * 2, ROWS_AFTER_MOST_MS);
      await this.#look().catch(onFailed);
    }
  }

  #ended({ jobId, run }: LoggedEvent & { run?: number }): void {
    if (jobId !== undefined) this.ended(jobId, run ?? 0);
  }

  /** This run of the job is over. A later one may be under way already. */
  ended(id: string, run: number): void {
    const lease = this.#runs.get(id);
    if (lease && run >= lease.job.run) this.drop(id);
  }

  /** It is over. */
  drop(id: string): void {
    if (this.#runs.delete(id)) this.#wake();
  }

  /** The rows know what no event reports. A row that cannot be read now is read again later. */
  async #look(): Promise<void> {
    const { waybill, tenant } = this.#parts;
    for (const { job } of this.leases) {
      const row = await waybill.jobs.get(job.id, { tenant }).catch((error: { code?: unknown }) => {
        if (error.code === 'not_found') return null;
        throw error;
      });
      if (row?.state === 'active' && row.run === job.run) continue;
      this.drop(job.id);
    }
  }
}

/** The open streams of a server. A job that is completed here makes room in its stream at once. */
export class OpenStreams {
  readonly #streams = new Set<Outstanding>();

  add(stream: Outstanding): () => void {
    this.#streams.add(stream);
    return () => this.#streams.delete(stream);
  }

  ended({ id, run }: Job): void {
    for (const stream of this.#streams) stream.ended(id, run);
  }
}
