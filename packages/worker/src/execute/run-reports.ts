import type { Clock, Jobs, JsonObject, Lease, Logger } from '@waybill/core';
import { codeOf, within } from '../patience.ts';

/** How often a run is heard at most. In between the newest word wins: a loop may report each of a million rows. */
export const HEARD_EVERY_MS = 1_000;
/** How long the end of a run waits for its last word to arrive. */
const LAST_WORD_MS = 5_000;

interface Word {
  fraction?: number;
  data?: JsonObject;
  checkpoint?: JsonObject;
}

export interface RunReportsParts {
  jobs: Pick<Jobs, 'report'>;
  clock: Clock;
  logger: Logger;
}

/** What one run says of itself, on its way to the server. Nobody waits for it, and its failure is not the run's. */
export class RunReports {
  readonly #lease: Lease;
  readonly #parts: RunReportsParts;
  /** Made with the first word: most runs say nothing and should pay nothing. */
  #ended: AbortController | undefined;
  #next: Word | undefined;
  #number = 0;
  #sending: Promise<void> | undefined;

  constructor(lease: Lease, parts: RunReportsParts) {
    this.#lease = lease;
    this.#parts = parts;
  }

  tell(word: Word): void {
    this.#next = { ...this.#next, ...word };
    this.#ended ??= new AbortController();
    this.#sending ??= this.#send(this.#ended.signal);
  }

  /** Sends what is left at once. Called when the handler has ended, before its run is settled. */
  async end(): Promise<void> {
    this.#ended?.abort();
    if (this.#sending === undefined) return;
    const { clock } = this.#parts;
    await within(LAST_WORD_MS, clock, this.#sending).catch(() => {});
  }

  async #send(ended: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    for (let word = this.#take(); word !== undefined; word = this.#take()) {
      await this.#report(word);
      await clock.sleep(HEARD_EVERY_MS, ended);
    }
    this.#sending = undefined;
  }

  #take(): Word | undefined {
    const word = this.#next;
    this.#next = undefined;
    return word;
  }

  async #report(word: Word): Promise<void> {
    const { jobs, logger } = this.#parts;
    const { job, token } = this.#lease;
    this.#number += 1;
    try {
      await jobs.report({ tenant: job.tenant, id: job.id, leaseToken: token, number: this.#number, ...word });
    } catch (error) {
      // That the run is not ours any more, the heartbeat finds out and acts on.
      if (codeOf(error) === 'lease_lost') return;
      logger.warn({ err: error, task: job.type, job: job.id }, `A report of task '${job.type}' was not taken.`);
    }
  }
}
