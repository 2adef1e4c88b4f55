import type { Clock } from '../clock.ts';
import type { Job } from '../job/job.ts';

/** Smaller differences are drift and scheduling noise. */
const JUMP_MS = 2_000;

/**
 * Notices when wall time and monotonic time part ways: somebody set the clock, or the machine slept. Leases measured
 * by the old time would all seem to have run out, so rescuing them waits for one lease time, in which live workers
 * send their heartbeats. After a jump a job may run again, but it never settles twice.
 */
export class JumpWatch {
  readonly #clock: Clock;
  #offset: number;
  #jumpedAt = Number.NEGATIVE_INFINITY;
  /** Rows held back in the last sweep, so that the next one can look past them. */
  held = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offset = clock.now() - clock.monotonic();
  }

  look(): void {
    const offset = this.#clock.now() - this.#clock.monotonic();
    if (Math.abs(offset - this.#offset) > JUMP_MS) this.#jumpedAt = this.#clock.monotonic();
    this.#offset = offset;
  }

  holds(job: Job): boolean {
    return job.state === 'active' && this.#clock.monotonic() < this.#jumpedAt + (job.leaseMs ?? 0);
  }
}
