import type { AgentError } from '../agent-error.ts';
import type { CliProcess } from '../sdk/cli-process.ts';
import type { SdkQuery } from '../sdk/sdk-types.ts';

/** Why we ended a query ourselves. */
export type StopCause =
  /** The run must end: cancelled, lost, timed out, worker stopping. */
  | { kind: 'aborted'; reason: unknown }
  | { kind: 'failed'; error: AgentError }
  /** The transcript could not be kept, so the run could not be resumed. */
  | { kind: 'store'; error: unknown };

export interface StopTimes {
  /** How long an interrupt may take, before the CLI gets SIGTERM. */
  interruptMs: number;
  /** How long the SDK may take to notice that the CLI is gone, before it is not waited for any more. */
  noticeMs: number;
}

const TIMES: StopTimes = { interruptMs: 2_000, noticeMs: 2_000 };

/** Ends a query: asks it first, which keeps the transcript complete and kills its tools, and ends its process then. */
export class QueryStopper {
  readonly #query: SdkQuery;
  readonly #cli: CliProcess;
  readonly #times: StopTimes;
  readonly #gaveUp = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  #cause: StopCause | null = null;
  #isOver = false;

  constructor(query: SdkQuery, cli: CliProcess, times: Partial<StopTimes> = {}) {
    this.#query = query;
    this.#cli = cli;
    this.#times = { ...TIMES, ...times };
  }

  get cause(): StopCause | null {
    return this.#cause;
  }

  /** Resolves when the query did not end although its process is gone. */
  get gaveUp(): Promise<void> {
    return this.#gaveUp.promise;
  }

  /** The first cause stands. */
  stop(cause: StopCause): void {
    if (this.#cause !== null || this.#isOver) return;
    this.#cause = cause;
    // It fails where the CLI has not started yet or is gone; then the process is ended all the same.
    this.#query.interrupt().catch(() => {});
    this.#timer = setTimeout(() => void this.#terminate(), this.#times.interruptMs);
  }

  /** The query has ended. */
  over(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  async #terminate(): Promise<void> {
    await this.#cli.terminate();
    if (!this.#isOver) this.#timer = setTimeout(() => this.#gaveUp.resolve(), this.#times.noticeMs);
  }
}
