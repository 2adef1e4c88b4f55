import type { StreamLogger } from './calls.ts';

/** How often outages are told, whether it is the same one or another. */
const TELL_EVERY_MS = 60_000;

interface Connected {
  readonly logger: StreamLogger;
  readonly server: string;
}

/** Tells the logger that a stream has lost its server, which would else look like a log where nothing happens. */
export class Outage {
  readonly #calls: Connected;
  #failures = 0;
  #isTold = false;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(calls: Connected) {
    this.#calls = calls;
  }

  /** Another connection has failed. */
  tell(error: unknown): void {
    this.#failures += 1;
    const now = performance.now();
    if (now - this.#toldAt < TELL_EVERY_MS) return;
    this.#toldAt = now;
    this.#isTold = true;
    const { logger, server } = this.#calls;
    const facts = { server, failures: this.#failures, err: error };
    logger.warn(facts, `The stream of events from ${server} was interrupted. Trying again until the server answers.`);
  }

  /** The server sends events again. */
  end(): void {
    const { logger, server } = this.#calls;
    const facts = { server, failures: this.#failures };
    if (this.#isTold) logger.info(facts, `The stream of events from ${server} goes on.`);
    this.#isTold = false;
    this.#failures = 0;
  }
}
