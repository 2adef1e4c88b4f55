import { type Clock, type Jobs, type Lease, type Logger, type Spending, WaybillError } from '@waybill/core';
import { codeOf, mayRepeat, within } from '../patience.ts';

export type Amounts = Readonly<Record<string, number>>;

/** As long as a remote client repeats a call by itself. */
const CALL_MS = 30_000;
/** How long the end of a run waits for what it has spent to arrive. */
const LAST_CALL_MS = 5_000;

interface Waiter {
  resolve(spending: Spending): void;
  reject(error: unknown): void;
}

interface Expense {
  /** From the first try on: it is sent again as it was, so that it counts once. */
  number?: number;
  amounts: Amounts;
  key: string | undefined;
  waiters: Waiter[];
}

export interface RunSpendingParts {
  jobs: Partial<Pick<Jobs, 'spend'>>;
  clock: Clock;
  logger: Logger;
}

/**
 * What one run spends, call by call under its own numbers: they may not overtake each other. What could not be sent is kept
 * for the next call, or for the end of the run.
 */
export class RunSpending {
  readonly #lease: Lease;
  readonly #signal: () => AbortSignal;
  readonly #parts: RunSpendingParts;
  readonly #unsent: Expense[] = [];
  #number = 0;
  #sending: Promise<void> | undefined;

  constructor(lease: Lease, signal: () => AbortSignal, parts: RunSpendingParts) {
    this.#lease = lease;
    this.#signal = signal;
    this.#parts = parts;
  }

  spend(amounts: Amounts, key: string | undefined): Promise<Spending> {
    const { promise, resolve, reject } = Promise.withResolvers<Spending>();
    // Nobody need wait for it, and the process must not end then.
    promise.catch(() => {});
    this.#unsent.push({ amounts: { ...amounts }, key, waiters: [{ resolve, reject }] });
    this.#sending ??= this.#send(CALL_MS, this.#signal());
    return promise;
  }

  /** Tries once more what is left. Called when the handler has ended, before its run is settled. */
  async end(): Promise<void> {
    const { clock } = this.#parts;
    const last = async (): Promise<void> => {
      await this.#sending;
      await this.#send(LAST_CALL_MS);
    };
    if (this.#unsent.length > 0) await within(LAST_CALL_MS, clock, last()).catch(() => {});
  }

  async #send(ms: number, giveUp?: AbortSignal): Promise<void> {
    for (let next = this.#unsent[0]; next !== undefined; next = this.#unsent[0]) {
      try {
        const spending = await within(ms, this.#parts.clock, this.#call(next), giveUp);
        this.#unsent.shift();
        for (const { resolve } of next.waiters) resolve(spending);
      } catch (error) {
        this.#warn(error);
        if (mayRepeat(error)) {
          this.#refuseAll(error);
          break;
        }
        this.#unsent.shift();
        for (const { reject } of next.waiters) reject(error);
      }
    }
    this.#sending = undefined;
  }

  async #call(expense: Expense): Promise<Spending> {
    const { jobs } = this.#parts;
    if (jobs.spend === undefined) throw new WaybillError('unsupported', "The worker's connection keeps no budgets.");
    if (expense.number === undefined) {
      this.#number += 1;
      expense.number = this.#number;
    }
    const { number, amounts, key } = expense;
    const { job, token } = this.#lease;
    const call = { tenant: job.tenant, id: job.id, leaseToken: token, number, amounts };
    return jobs.spend(key === undefined ? call : { ...call, key });
  }

  /** They learn of it now; what they have spent is still to be sent. */
  #refuseAll(error: unknown): void {
    for (const { waiters } of this.#unsent) for (const { reject } of waiters.splice(0)) reject(error);
  }

  #warn(error: unknown): void {
    // That the run is not ours any more, the heartbeat finds out and acts on.
    if (codeOf(error) === 'lease_lost') return;
    const { job } = this.#lease;
    const what = mayRepeat(error) ? 'could not be counted yet' : 'was not counted';
    const message = `What a run of task '${job.type}' has spent ${what}.`;
    this.#parts.logger.warn({ err: error, task: job.type, job: job.id }, message);
  }
}
