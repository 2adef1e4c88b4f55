import { type Clock, systemClock } from '@waybill/core';

const EVERY_MS = 60_000;
const SAMPLES = 3;
/** Wall and monotonic time apart by this much: the machine slept, or somebody set its clock. */
const JUMP_MS = 1_000;

/** Asks the server for its time, in milliseconds since the epoch. */
export type AskTime = () => Promise<number>;

/**
 * The server's time without a round trip per question: this machine's monotonic clock plus a measured offset, which is
 * wrong by half a round trip at most. Setting the wall clock of this machine therefore changes nothing.
 */
export class ServerClock implements Clock {
  readonly monotonic = systemClock.monotonic;
  readonly sleep = systemClock.sleep;
  readonly #ask: AskTime;
  #offset = 0;
  /** How far wall and monotonic time were apart at the last measurement. */
  #wallOffset = 0;
  #timer: NodeJS.Timeout | undefined;
  #measuring: Promise<void> | null = null;
  #isStopped = false;

  constructor(ask: AskTime) {
    this.#ask = ask;
  }

  async start(): Promise<void> {
    await this.measure();
    this.#timer = setInterval(() => this.#measureAgain(), EVERY_MS).unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  now(): number {
    // Monotonic time stands still while a machine sleeps.
    if (Math.abs(wallOffset() - this.#wallOffset) > JUMP_MS) this.#measureAgain();
    return Math.round(this.monotonic() + this.#offset);
  }

  measure(): Promise<void> {
    this.#measuring ??= this.#measure().finally(() => {
      this.#measuring = null;
    });
    return this.#measuring;
  }

  /** While the server is away, the last offset is as good as any. */
  #measureAgain(): void {
    if (!this.#isStopped) this.measure().catch(() => {});
  }

  async #measure(): Promise<void> {
    let best = { offset: 0, error: Number.POSITIVE_INFINITY };
    for (let sample = 0; sample < SAMPLES; sample++) {
      const before = this.monotonic();
      const theirs = await this.#ask();
      const after = this.monotonic();
      const error = (after - before) / 2;
      if (error < best.error) best = { offset: theirs - (before + after) / 2, error };
    }
    this.#wallOffset = wallOffset();
    // An offset that this measurement does not disprove is kept, so that time does not jitter.
    if (Math.abs(best.offset - this.#offset) > best.error) this.#offset = best.offset;
  }
}

const wallOffset = (): number => systemClock.now() - systemClock.monotonic();
