import type { Clock } from '@waybill/core';

interface SlowReaderParts {
  clock: Clock;
  patienceMs: number;
  /** Whether the reader has taken all that was sent. */
  hasRoom(): boolean;
  /** It has taken nothing for so long. */
  giveUp(): void;
}

/** Notices a reader that takes nothing of what was sent to it for too long. */
export class SlowReader {
  readonly #parts: SlowReaderParts;
  readonly #over = new AbortController();
  #waitsSince = 0;
  #isWatching = false;

  constructor(parts: SlowReaderParts) {
    this.#parts = parts;
  }

  /** Called before each piece. One timer serves many of them, so that a fast stream costs nothing more. */
  sending(): void {
    if (this.#parts.hasRoom()) this.#waitsSince = this.#parts.clock.now();
    if (this.#isWatching || this.#over.signal.aborted) return;
    this.#isWatching = true;
    void this.#watch();
  }

  stop(): void {
    this.#over.abort();
  }

  async #watch(): Promise<void> {
    const { clock, patienceMs, hasRoom, giveUp } = this.#parts;
    const { signal } = this.#over;
    for (let leftMs = patienceMs; leftMs > 0; leftMs = this.#waitsSince + patienceMs - clock.now()) {
      await clock.sleep(leftMs, signal);
      if (signal.aborted) return;
      if (!hasRoom()) continue;
      this.#isWatching = false;
      return;
    }
    giveUp();
  }
}
