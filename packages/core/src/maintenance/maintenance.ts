import type { BlobSweep } from '../blobs/sweep-blobs.ts';
import type { Job } from '../job/job.ts';
import type { ResolvedOptions } from '../options.ts';
import { JumpWatch } from './jump-watch.ts';
import { pruneAll } from './prune.ts';
import { type Makers, sweepOnce } from './sweep.ts';

/** After a failed round the next one waits this long, so that a store in trouble is not hammered. */
const AFTER_ERROR_MS = 1_000;

export interface SweepListener {
  /** Clears away what no row refers to any more, where payloads are kept outside of the rows. */
  blobs?: BlobSweep;
  onChanged(jobs: readonly Job[]): void;
  onUnclaimed(jobs: readonly Job[]): void;
}

/** The engine's upkeep: one loop for due rows, one for what is too old. */
export class Maintenance {
  readonly #options: ResolvedOptions;
  readonly #listener: SweepListener;
  readonly #make: Makers;
  readonly #stopping = new AbortController();
  /** The earliest moment asked for since the current sweep began. */
  #earliest = Number.POSITIVE_INFINITY;
  #sleepingUntil = Number.NEGATIVE_INFINITY;
  #wake = new AbortController();
  #loops: Promise<void>[] = [];

  constructor(options: ResolvedOptions, make: Makers, listener: SweepListener) {
    this.#options = options;
    this.#make = make;
    this.#listener = listener;
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

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
  }

  async #sweepLoop(): Promise<void> {
    const { clock, sweepEveryMs } = this.#options;
    const jumps = new JumpWatch(clock);
    while (!this.#stopping.signal.aborted) {
      this.#earliest = Number.POSITIVE_INFINITY;
      const due = await this.#sweep(jumps);
      await this.#sleepUntil(Math.min(due, this.#earliest, clock.now() + sweepEveryMs));
    }
  }

  /** Answers when the next row is due. */
  async #sweep(jumps: JumpWatch): Promise<number> {
    const { store, clock, logger } = this.#options;
    try {
      const { changed, unclaimed, nextAt, more } = await sweepOnce(store, jumps, this.#make);
      if (changed.length > 0) this.#listener.onChanged(changed);
      if (unclaimed.length > 0) this.#listener.onUnclaimed(unclaimed);
      return more ? clock.now() : (nextAt ?? Number.POSITIVE_INFINITY);
    } catch (error) {
      if (!this.#stopping.signal.aborted) logger.warn({ err: error }, 'A sweep failed and will be repeated.');
      return clock.now() + AFTER_ERROR_MS;
    }
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
    const { store, clock, logger, retention } = this.#options;
    while (!this.#stopping.signal.aborted) {
      try {
        await pruneAll(store, retention, this.#stopping.signal);
        await this.#listener.blobs?.round(retention.eventsMs, this.#stopping.signal);
      } catch (error) {
        if (!this.#stopping.signal.aborted) logger.warn({ err: error }, 'Pruning failed and will be repeated.');
      }
      await clock.sleep(retention.everyMs, this.#stopping.signal);
    }
  }
}
