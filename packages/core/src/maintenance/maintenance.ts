import type { BlobSweep } from '../blobs/sweep-blobs.ts';
import type { Writer } from '../commit/writer.ts';
import { failureLine } from '../job/failure-line.ts';
import type { ResolvedOptions } from '../options.ts';
import type { MaintenanceHealth } from '../waybill.ts';
import { FailingItems, reasonOf } from './failing-items.ts';
import { JumpWatch } from './jump-watch.ts';
import { pruneAll } from './prune.ts';
import { PutOffNotes, together } from './put-off-notes.ts';
import { type Makers, type SweepAnswer, sweepOnce } from './sweep.ts';

/** After a failed round the next one waits this long, so that a store in trouble is not hammered. */
const AFTER_ERROR_MS = 1_000;
/** Failing items that health names; the others are counted. */
const MOST_NAMED = 10;

interface MaintenanceParts {
  writer: Writer;
  make: Makers;
  /** Clears away what no row refers to any more, where payloads are kept outside of the rows. */
  blobs?: BlobSweep;
}

export interface PassOptions {
  /** Waits this long for what becomes due meanwhile; 0: ends when nothing is due. @defaultValue 0 */
  forMs?: number;
  /** Begins nothing more. @defaultValue none */
  signal?: AbortSignal;
}

export interface PassReport {
  /** Looks at what is due, each at a batch. */
  sweeps: number;
  /** Runs that were ended because of a timeout or a lost lease. */
  failed: number;
  /** When the next row is due; null: nothing waits. */
  nextAt: number | null;
}

/** The engine's upkeep: one loop for due rows, one for what is too old. */
export class Maintenance {
  readonly #options: ResolvedOptions;
  readonly #parts: MaintenanceParts;
  readonly #failing: FailingItems;
  readonly #notes: PutOffNotes;
  readonly #stopping = new AbortController();
  /** What failed as a whole and has not succeeded since, with its reason. */
  readonly #failedRounds = new Map<string, string>();
  /** The earliest moment asked for since the current sweep began. */
  #earliest = Number.POSITIVE_INFINITY;
  #sleepingUntil = Number.NEGATIVE_INFINITY;
  #wake = new AbortController();
  #loops: Promise<void>[] = [];
  /** By the monotonic clock. */
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ResolvedOptions, parts: MaintenanceParts) {
    this.#options = options;
    this.#parts = parts;
    this.#failing = new FailingItems(options.clock, options.logger);
    this.#notes = new PutOffNotes({ records: options.store.records, clock: options.clock });
  }

  start(): void {
    this.#loops = [this.#sweepLoop(), this.#pruneLoop()];
  }

  /** A row must be looked at by then; wakes the sweep if it meant to sleep longer. */
  expect(nextAt: number | null): void {
    if (nextAt === null || nextAt >= this.#earliest) return;
    this.#earliest = nextAt;
    if (nextAt < this.#sleepingUntil) this.#wake.abort();
  }

  /** Of this process, where it does maintenance, and what others have noted. */
  async health(): Promise<MaintenanceHealth | undefined> {
    const others = await this.#notes.others();
    return together(this.#options.maintenance ? [this.#own(), ...others] : others, MOST_NAMED);
  }

  #own(): MaintenanceHealth {
    const items = this.#failing.list();
    const isWell = items.length === 0 && this.#failedRounds.size === 0;
    const reasons = [...this.#failedRounds].map(([what, reason]) => `${what}: ${reason}`);
    return {
      status: isWell ? 'ok' : 'failing',
      failing: items.length,
      items: items.slice(0, MOST_NAMED),
      ...(reasons.length > 0 && { reason: reasons.join(' ') }),
    };
  }

  /** For a process without loops: rejects where a loop would try again. Prunes no more often than a loop does. */
  async pass({ forMs = 0, signal }: PassOptions = {}): Promise<PassReport> {
    const { clock, retention, sweepEveryMs } = this.#options;
    const over = signal ? AbortSignal.any([signal, this.#stopping.signal]) : this.#stopping.signal;
    const end = clock.monotonic() + forMs;
    // Anew for each pass: a function that was frozen in between saw no clock jump.
    const jumps = new JumpWatch(clock);
    const report = { sweeps: 0, failed: 0, nextAt: null as number | null };
    while (!over.aborted) {
      const { failed, more, nextAt } = await this.#sweepOnce(jumps);
      report.sweeps += 1;
      report.failed += failed.length;
      report.nextAt = nextAt;
      await this.#notes.tell(this.#own());
      if (more) continue;
      const leftMs = end - clock.monotonic();
      if (leftMs <= 0) break;
      const dueInMs = nextAt === null ? leftMs : Math.max(1, nextAt - clock.now());
      await clock.sleep(Math.min(leftMs, dueInMs, sweepEveryMs), over);
    }
    if (over.aborted || clock.monotonic() - this.#prunedAt < retention.everyMs) return report;
    const { store } = this.#options;
    await pruneAll(store, retention, over);
    await this.#parts.blobs?.round(retention.eventsMs, over);
    this.#prunedAt = clock.monotonic();
    return report;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
    await this.#notes.clear().catch(() => {});
  }

  async #sweepLoop(): Promise<void> {
    const { clock, sweepEveryMs } = this.#options;
    const jumps = new JumpWatch(clock);
    while (!this.#stopping.signal.aborted) {
      this.#earliest = Number.POSITIVE_INFINITY;
      const due = await this.#sweep(jumps);
      await this.#notes.tell(this.#own());
      await this.#sleepUntil(Math.min(due, this.#earliest, clock.now() + sweepEveryMs));
    }
  }

  /** Answers when the next row is due. */
  async #sweep(jumps: JumpWatch): Promise<number> {
    const { clock } = this.#options;
    const swept = await this.#round('Sweeping', () => this.#sweepOnce(jumps));
    if (swept === undefined) return clock.now() + AFTER_ERROR_MS;
    const { nextAt, more, isStuck } = swept;
    if (more) return clock.now();
    return isStuck ? Number.POSITIVE_INFINITY : (nextAt ?? Number.POSITIVE_INFINITY);
  }

  async #sweepOnce(jumps: JumpWatch): Promise<SweepAnswer> {
    const { store, logger, observer } = this.#options;
    const swept = await sweepOnce({ ...this.#parts, store, failing: this.#failing }, jumps);
    observer?.swept?.({ lagMs: swept.lagMs });
    for (const job of swept.failed) logger.warn({ job: job.id, task: job.type, run: job.run }, failureLine(job));
    return swept;
  }

  async #sleepUntil(moment: number): Promise<void> {
    const { clock } = this.#options;
    const ms = moment - clock.now();
    if (ms <= 0) return;
    this.#wake = new AbortController();
    this.#sleepingUntil = moment;
    await clock.sleep(ms, AbortSignal.any([this.#wake.signal, this.#stopping.signal]));
    this.#sleepingUntil = Number.NEGATIVE_INFINITY;
  }

  async #pruneLoop(): Promise<void> {
    const { store, clock, retention } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#round('Pruning', () => pruneAll(store, retention, signal));
      const { blobs } = this.#parts;
      if (blobs) await this.#round('Removing blobs', () => blobs.round(retention.eventsMs, signal));
      await clock.sleep(retention.everyMs, signal);
    }
  }

  /** Never rejects: a round that fails is repeated by its loop, and told meanwhile. */
  async #round<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      const answer = await work();
      this.#failedRounds.delete(what);
      return answer;
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      this.#failedRounds.set(what, reasonOf(error));
      this.#options.logger.warn({ err: error }, `${what} failed and will be repeated.`);
      return undefined;
    }
  }
}
