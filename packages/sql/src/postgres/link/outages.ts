import type { Logger } from '@waybill/core';
import { type FaultKind, faultOf, messageOf, plain } from './failures.ts';

/** Calls are repeated more often than this, so a fault that was not seen for so long is over. */
const QUIET_MS = 2_000;

interface Outage {
  since: number;
  lastAt: number;
}

/** Tells the log once when something is wrong with the server, and once when it is right again; never per call. */
export class Outages {
  readonly #logger: Logger;
  readonly #server: string | undefined;
  readonly #onEnd: () => void;
  readonly #open = new Map<FaultKind, Outage>();

  constructor(logger: Logger, onEnd: () => void = () => {}, server?: string) {
    this.#logger = logger;
    this.#onEnd = onEnd;
    this.#server = server;
  }

  /** Whether something that is wrong has been told. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  failed(kind: FaultKind, error: unknown): void {
    // Deadlocks and the like are a matter of milliseconds and of nobody's interest.
    if (kind === 'rivals') return;
    const now = performance.now();
    const known = this.#open.get(kind);
    if (known) known.lastAt = now;
    else {
      this.#open.set(kind, { since: now, lastAt: now });
      const fault = faultOf(error);
      const message = messageOf(fault, this.#server);
      this.#logger.warn({ hint: fault.hint, cause: plain(error) }, `${message} Calls are repeated until it answers.`);
    }
  }

  succeeded(): void {
    if (this.#open.size === 0) return;
    const now = performance.now();
    for (const [kind, { since, lastAt }] of this.#open) {
      if (now - lastAt < QUIET_MS) continue;
      this.#open.delete(kind);
      this.#logger.info({ outage: kind, forMs: Math.round(lastAt - since) }, 'PostgreSQL answers as usual again.');
      this.#onEnd();
    }
  }
}
