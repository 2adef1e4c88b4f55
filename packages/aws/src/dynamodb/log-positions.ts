import type { Database } from './database.ts';
import { headKey } from './keys.ts';
import type { Settings } from './settings.ts';

/** Draws under way at once: a call waits for less than one round trip before its own begins. */
const PARALLEL = 2;

interface Waiting {
  count: number;
  resolve(first: number): void;
  reject(reason: unknown): void;
}

/**
 * Gives out the positions of the log. All of them come from one item, which takes about a thousand writes a second for
 * the whole table. So the calls of a process that want positions at the same moment draw them together.
 */
export class LogPositions {
  readonly #db: Database;
  readonly #settings: Settings;
  #waiting: Waiting[] = [];
  #drawing = 0;
  #isScheduled = false;

  constructor(db: Database, settings: Settings) {
    this.#db = db;
    this.#settings = settings;
  }

  /** So many positions in a row; answers the first. It was drawn after this call, so behind whatever the caller builds on. */
  draw(count: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ count, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#drawing >= PARALLEL || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    process.nextTick(() => {
      this.#isScheduled = false;
      void this.#drawAll();
    });
  }

  async #drawAll(): Promise<void> {
    const callers = this.#waiting;
    this.#waiting = [];
    this.#drawing += 1;
    try {
      const total = callers.reduce((sum, { count }) => sum + count, 0);
      const head = await this.#db.count(headKey, { n: total }, { at: this.#settings.clock.now() });
      let first = (head['n'] as number) - total + 1;
      for (const { count, resolve } of callers) {
        resolve(first);
        first += count;
      }
    } catch (error) {
      for (const { reject } of callers) reject(error);
    }
    this.#drawing -= 1;
    this.#schedule();
  }
}
