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
  readonly #ask: AskTime;
  readonly #local: Clock;
  #offset = 0;
  /** How far the wall clock and the monotonic clock of this machine were apart at the last measurement. */
  #apartThen = 0;
  #timer: NodeJS.Timeout | undefined;
  #measuring: Promise<void> | null = null;
  #isStopped = false;

  constructor(ask: AskTime, local: Clock = systemClock) {
    this.#ask = ask;
    this.#local = local;
  }

  async start(): Promise<void> {
    await this.measure();
    this.#timer = setInterval(() => this.measureSoon(), EVERY_MS).unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  now(): number {
    // Monotonic time stands still while a machine sleeps.
    if (Math.abs(this.#apart() - this.#apartThen) > JUMP_MS) this.measureSoon();
    return Math.round(this.monotonic() + this.#offset);
  }

  monotonic(): number {
    return this.#local.monotonic();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#local.sleep(ms, signal);
  }

  measure(): Promise<void> {
    this.#measuring ??= this.#measure().finally(() => {
      this.#measuring = null;
    });
    return this.#measuring;
  }

  /** While the server is away, the last offset is as good as any. */
  measureSoon(): void {
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
    this.#apartThen = this.#apart();
    // An offset that this measurement does not disprove is kept, so that time does not jitter.
    if (Math.abs(best.offset - this.#offset) > best.error) this.#offset = best.offset;
  }

  #apart(): number {
    return this.#local.now() - this.#local.monotonic();
  }
}
