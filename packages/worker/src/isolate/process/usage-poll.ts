import { processTable } from './process-table.ts';

const EVERY_MS = 100;
const SCAN_EVERY_MS = 1000;
/** On a machine with very many processes, the looks may take a fifth of the worker's time, and not more. */
const PAUSE_PER_COST = 4;

/** One timer and one look for all runs of this worker. */
class UsagePoll {
  readonly #observers = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #scanAt = 0;

  add(observe: () => void): void {
    this.#observers.add(observe);
    this.#timer ??= setTimeout(() => this.#tick(), EVERY_MS);
  }

  remove(observe: () => void): void {
    this.#observers.delete(observe);
    if (this.#observers.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    const started = performance.now();
    processTable.look();
    for (const observe of [...this.#observers]) observe();
    if (started >= this.#scanAt) void this.#scan();
    // An observer may have removed the last one.
    if (this.#observers.size > 0) this.#timer = setTimeout(() => this.#tick(), pauseAfter(started, EVERY_MS));
  }

  async #scan(): Promise<void> {
    const started = performance.now();
    this.#scanAt = Number.POSITIVE_INFINITY;
    await processTable.scan();
    this.#scanAt = performance.now() + pauseAfter(started, SCAN_EVERY_MS);
  }
}

const pauseAfter = (started: number, least: number): number =>
  Math.max(least, (performance.now() - started) * PAUSE_PER_COST);

export const usagePoll = new UsagePoll();
