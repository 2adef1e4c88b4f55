/**
 * Calls back when nothing was heard for too long. It begins with the first word, because a CLI takes its time to start on a
 * busy machine. Time in which a tool runs does not count.
 */
export class SilenceWatch {
  readonly #limitMs: number;
  readonly #isBusy: () => boolean;
  readonly #onSilence: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number, isBusy: () => boolean, onSilence: () => void) {
    this.#limitMs = limitMs;
    this.#isBusy = isBusy;
    this.#onSilence = onSilence;
  }

  /** `pauseMs`: how long a silence was announced for. */
  heard(pauseMs = 0): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#isBusy()) this.heard();
      else this.#onSilence();
    }, this.#limitMs + pauseMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
