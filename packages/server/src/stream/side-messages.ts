import type { Clock } from '@waybill/core';

/**
 * Messages that a stream sends between its items, at once even while no item comes. Of each name only the newest waits, so a slow
 * reader lets none pile up.
 */
export class SideMessages<T> {
  readonly #waiting = new Map<string, T>();
  #onPut = () => {};

  put(name: string, message: T): void {
    this.#waiting.delete(name);
    this.#waiting.set(name, message);
    this.#onPut();
  }

  take(): T[] {
    const messages = [...this.#waiting.values()];
    this.#waiting.clear();
    return messages;
  }

  /** Replaces the listener of before. */
  onPut(listener: () => void): void {
    this.#onPut = listener;
  }
}

/** A message that is sent where nothing else was for so long. */
export interface Heartbeat<T> {
  clock: Clock;
  everyMs: number;
  message(): T;
}

interface Beside<T> {
  side?: SideMessages<T>;
  heartbeat?: Heartbeat<T> | undefined;
}

/** The items of a stream, one at a time as its reader takes them, with side messages and heartbeats between them. */
export async function* withSideMessages<T>(
  stream: AsyncIterable<T>,
  { side, heartbeat }: Beside<T>,
): AsyncGenerator<T> {
  const items = stream[Symbol.asyncIterator]();
  const quiet = heartbeat && new QuietTimer(heartbeat, () => wake());
  let wake = () => {};
  // Each item gets one listener. A race of promises would leave one on a waiting item for each side message.
  const next: { result?: () => IteratorResult<T> } = {};
  const ask = (): void => {
    delete next.result;
    items.next().then(
      (result) => {
        next.result = () => result;
        wake();
      },
      (error: unknown) => {
        next.result = () => {
          throw error;
        };
        wake();
      },
    );
  };
  side?.onPut(() => wake());
  try {
    for (ask(); ; ) {
      // What was put while the item was on its way came before it.
      for (const message of side?.take() ?? []) yield message;
      if (next.result) {
        const { done, value } = next.result();
        if (done) return;
        quiet?.reset();
        yield value;
        ask();
      } else if (quiet?.isDue) {
        quiet.reset();
        yield heartbeat!.message();
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    quiet?.stop();
    // Not awaited: a stream that waits for something is ended by its signal.
    items.return?.().catch(() => {});
  }
}

/** Notices that nothing was sent for some time. One timer serves many items, so that a fast stream costs nothing more. */
class QuietTimer {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #onDue: () => void;
  readonly #over = new AbortController();
  #sentAt: number;
  #isDue = false;

  constructor({ clock, everyMs }: Heartbeat<unknown>, onDue: () => void) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#onDue = onDue;
    this.#sentAt = clock.monotonic();
    void this.#run();
  }

  get isDue(): boolean {
    return this.#isDue;
  }

  reset(): void {
    this.#sentAt = this.#clock.monotonic();
    this.#isDue = false;
  }

  stop(): void {
    this.#over.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#over;
    for (let waitMs = this.#everyMs; ; ) {
      await this.#clock.sleep(waitMs, signal);
      if (signal.aborted) return;
      const leftMs = this.#sentAt + this.#everyMs - this.#clock.monotonic();
      waitMs = leftMs > 0 ? leftMs : this.#everyMs;
      if (leftMs > 0) continue;
      this.#isDue = true;
      this.#onDue();
    }
  }
}
