/** After this long without a move, what has not come is not waited for. */
const SILENT_MS = 90_000;
/** Bounds what moves for ever, such as a job that is run again and again. */
const LONGEST_MS = 900_000;

/**
 * How long to wait for something that comes nearer step by step. A busy machine takes long and moves all the time; what is
 * stuck does not move.
 */
export class Patience {
  readonly #begun: number;
  readonly #now: () => number;
  #place: unknown;
  #movedAt: number;

  constructor(now = () => performance.now()) {
    this.#now = now;
    this.#begun = now();
    this.#movedAt = this.#begun;
  }

  /** `place`: anything that is another one after each step. */
  lasts(place: unknown): boolean {
    const now = this.#now();
    if (place !== this.#place) this.#movedAt = now;
    this.#place = place;
    return now - this.#movedAt < SILENT_MS && now - this.#begun < LONGEST_MS;
  }
}
