const WINDOW_MS = 1_000;
const PER_KEY = 10;
const IN_ALL = 50;

interface Parts {
  now(): number;
  /** Told when a second is over in which lines were left out, with the first of them. */
  onLeftOut(count: number, like: string): void;
}

/** Bounds how many lines a log takes in a second, by key and in all, and counts what it leaves out. */
export class LineBudget {
  readonly #parts: Parts;
  readonly #taken = new Map<string, number>();
  readonly #leftOut = new Map<string, { count: number; like: string }>();
  #total = 0;
  #begunAt = Number.NEGATIVE_INFINITY;
  #watchesExit = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whether this line may be written. */
  take(key: string, line: string): boolean {
    const passed = this.#parts.now() - this.#begunAt;
    // A clock that was set back begins a new second too.
    if (passed >= WINDOW_MS || passed < 0) this.#begin();
    const taken = this.#taken.get(key) ?? 0;
    if (taken < PER_KEY && this.#total < IN_ALL) {
      this.#taken.set(key, taken + 1);
      this.#total += 1;
      return true;
    }
    this.#leave(taken >= PER_KEY ? key : '', line);
    return false;
  }

  #begin(): void {
    this.#tell();
    this.#begunAt = this.#parts.now();
    this.#taken.clear();
    this.#total = 0;
  }

  /** All that exceeds the total is counted together, so that the number of keys is bounded as well. */
  #leave(key: string, line: string): void {
    const known = this.#leftOut.get(key);
    if (known) {
      known.count += 1;
      return;
    }
    if (this.#leftOut.size === 0) this.#tellLater();
    this.#leftOut.set(key, { count: 1, like: line });
  }

  /** Neither the timer nor the listener keeps a process alive. */
  #tellLater(): void {
    const timer: unknown = setTimeout(() => this.#tell(), WINDOW_MS);
    if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as { unref(): void }).unref();
    if (this.#watchesExit || typeof process === 'undefined' || typeof process.once !== 'function') return;
    this.#watchesExit = true;
    process.once('exit', () => this.#tell());
  }

  #tell(): void {
    const all = [...this.#leftOut.values()];
    this.#leftOut.clear();
    for (const { count, like } of all) this.#parts.onLeftOut(count, like);
  }
}
