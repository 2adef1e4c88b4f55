import type { Attributes } from '@opentelemetry/api';
import type { FollowedItem } from '@waybill/core';
import type { Instruments } from '../metrics/instruments.ts';
import { nowMs } from '../trace/span-time.ts';

/** What one follower reads of the past: how much, and how long it takes, the time of a slow reader included. */
export class Replay {
  readonly #instruments: Instruments;
  readonly #labels: Attributes;
  readonly #startMs = nowMs();
  #entries = 0;
  #isOver = false;

  constructor(instruments: Instruments, labels: Attributes) {
    this.#instruments = instruments;
    this.#labels = labels;
  }

  /** All that was there has been read. */
  end(): void {
    if (this.#isOver) return;
    this.#instruments.tell('replayDuration', (nowMs() - this.#startMs) / 1_000, this.#labels);
    this.#tellEntries();
  }

  async *through(items: AsyncIterable<FollowedItem>, signal: AbortSignal | undefined): AsyncGenerator<FollowedItem> {
    try {
      for await (const said of items) {
        if (!this.#isOver && said.kind === 'entry') this.#entries += 1;
        yield said;
      }
      // The job has ended: all of it was history.
      if (!signal?.aborted) this.end();
    } finally {
      // A reader that left early has no time to tell, but it has read.
      this.#tellEntries();
    }
  }

  #tellEntries(): void {
    if (!this.#isOver && this.#entries > 0) this.#instruments.tell('replayed', this.#entries, this.#labels);
    this.#isOver = true;
  }
}
