import type { Clock, Jobs, Lease } from '@waybill/core';
import type { Outstanding } from './outstanding.ts';

/** As long as a job stays with a client that has left its stream, unless the client extends it. */
export const LEFT_LEASE_MS = 30_000;
const BEAT_EVERY_MS = 10_000;
/** A beat that failed is repeated after this, so that a short outage costs no lease. */
const RETRY_MS = 1_000;

interface HeldAliveParts {
  jobs: Jobs;
  clock: Clock;
  workerId: string;
  /** How long the client may take for a job without a call. */
  visibilityMs: number;
  held: Outstanding;
  onFailed(error: unknown): void;
}

/**
 * Leases cannot be made shorter. So those of a stream are short, and while its client is there they are prolonged, as far
 * as the client was promised: the stream is its sign of life.
 */
export class HeldAlive {
  readonly #parts: HeldAliveParts;
  readonly #until = new Map<string, number>();

  constructor(parts: HeldAliveParts) {
    this.#parts = parts;
  }

  get leaseMs(): number {
    return Math.min(this.#parts.visibilityMs, LEFT_LEASE_MS);
  }

  delivered({ job }: Lease): void {
    const { clock, visibilityMs } = this.#parts;
    if (visibilityMs > LEFT_LEASE_MS) this.#until.set(job.id, clock.now() + visibilityMs);
  }

  /** Until the signal, whatever happens to the store in between. */
  async beat(signal: AbortSignal): Promise<void> {
    const { clock, held, onFailed } = this.#parts;
    for (let waitMs = BEAT_EVERY_MS; ; ) {
      await clock.sleep(waitMs, signal);
      if (signal.aborted) return;
      try {
        await this.#extend(LEFT_LEASE_MS);
        waitMs = BEAT_EVERY_MS;
      } catch (error) {
        onFailed(error);
        waitMs = RETRY_MS;
      }
      for (const id of this.#until.keys()) if (!held.has(id)) this.#until.delete(id);
    }
  }

  /** The stream is over by right: what the client has, it has for as long as it was promised. */
  promise(): Promise<void> {
    return this.#extend(Number.POSITIVE_INFINITY);
  }

  async #extend(most: number): Promise<void> {
    const { jobs, clock, workerId, held } = this.#parts;
    const byLength = new Map<number, Lease[]>();
    for (const lease of held.leases) {
      const left = (this.#until.get(lease.job.id) ?? 0) - clock.now();
      const leaseMs = Math.ceil(Math.min(left, most));
      if (leaseMs > 0) byLength.set(leaseMs, [...(byLength.get(leaseMs) ?? []), lease]);
    }
    for (const [leaseMs, leases] of byLength) {
      const runs = leases.map(({ job, token }) => ({ id: job.id, leaseToken: token }));
      const { lost } = await jobs.heartbeat({ workerId, jobs: runs, leaseMs });
      for (const id of lost) {
        held.drop(id);
        this.#until.delete(id);
      }
    }
  }
}
