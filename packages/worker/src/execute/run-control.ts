import type { Clock, Lease } from '@waybill/core';

/**
 * The worker's end of one run: when it was claimed, by the monotonic clock, and the means to end it. An AbortController
 * that is made only when somebody asks for its signal: it costs more than all the rest of a short run, and most
 * handlers never look at it.
 */
export class RunControl {
  readonly claimedAt: number;
  #controller: AbortController | undefined;
  #isAborted = false;
  #reason: unknown;
  #tell: (() => void) | undefined;
  #tellRenewed: ((leaseUntil: number) => void) | undefined;

  constructor(claimedAt: number) {
    this.claimedAt = claimedAt;
  }

  get isAborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAborted) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.#tell?.();
  }

  /** A heartbeat has extended the lease, until then by the server's clock. */
  renewed(leaseUntil: number): void {
    this.#tellRenewed?.(leaseUntil);
  }

  /** For a runner that reports that its run is alive. */
  onRenewed(tell: (leaseUntil: number) => void): void {
    this.#tellRenewed = tell;
  }

  /** For the one who runs the handler; called at once where it is too late. */
  onAbort(tell: () => void): void {
    this.#tell = tell;
    if (this.#isAborted) tell();
  }
}

/** What the server's clock shows: since the claim as much time has passed there as here, however wrong our clock is. */
export const serverNow = ({ job }: Lease, { claimedAt }: Pick<RunControl, 'claimedAt'>, clock: Clock): number =>
  Math.round((job.startedAt ?? clock.now()) + (clock.monotonic() - claimedAt));
