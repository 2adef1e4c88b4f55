import type { Store } from '../../store/store.ts';

/** Hands the store's wake-ups to those who wait for one of the queues concerned. */
export class WakeUps {
  readonly #store: Store;
  readonly #waiting = new Set<Waiter>();
  #unsubscribe: (() => void) | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Notes a wait that begins now. The store is listened to from the first wait on. */
  next(queues: readonly string[]): Waiter {
    const waiter = new Waiter(queues, this.#store.clock, () => this.#waiting.delete(waiter));
    this.#waiting.add(waiter);
    this.#unsubscribe ??= this.#store.onWake((named) => this.#wake(named));
    return waiter;
  }

  close(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  #wake(named: readonly string[] | undefined): void {
    for (const waiter of [...this.#waiting]) if (waiter.wants(named)) waiter.wake();
  }
}

/** Without a reason each abort makes an exception, with a stack that nobody looks at. */
const OVER = 'over';

export class Waiter {
  readonly #queues: ReadonlySet<string>;
  readonly #clock: Store['clock'];
  readonly #leave: () => void;
  readonly #over = new AbortController();
  #isWoken = false;

  constructor(queues: readonly string[], clock: Store['clock'], leave: () => void) {
    this.#queues = new Set(queues);
    this.#clock = clock;
    this.#leave = leave;
  }

  wants(named: readonly string[] | undefined): boolean {
    return named === undefined || named.some((queue) => this.#queues.has(queue));
  }

  get isWoken(): boolean {
    return this.#isWoken;
  }

  wake(): void {
    this.#leave();
    this.#isWoken = true;
    this.#over.abort(OVER);
  }

  cancel(): void {
    this.#leave();
  }

  /** Resolves at the wake-up, after `ms`, or when the signal is aborted. */
  async orAfter(ms: number, signal: AbortSignal): Promise<void> {
    // Not `AbortSignal.any`, whose weak references cost more than all the rest of a wait.
    const end = () => this.#over.abort(OVER);
    signal.addEventListener('abort', end, { once: true });
    if (!signal.aborted) await this.#clock.sleep(ms, this.#over.signal);
    signal.removeEventListener('abort', end);
    this.#leave();
  }
}
