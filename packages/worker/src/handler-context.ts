import type { Job, Json, JsonObject, Lease, Outcome, Transaction } from '@waybill/core';
import type { TaskContext } from './context.ts';
import type { RunControl } from './execute/run-control.ts';

/** What the handler's words lead to. */
export interface Hearer {
  workerId: string;
  /** The server's time, which `snoozed` is told in. */
  now(): number;
  progress(fraction: number, detail: string | JsonObject | undefined): void;
  checkpoint(state: JsonObject): void;
  log(message: string, fields: object): void;
  complete<Result>(result: Result, within: Transaction): Promise<Result>;
  end(method: string, outcome: Outcome): never;
}

const NO_RESULTS: readonly Json[] = Object.freeze([]);

/** The handler's side of a run. Functions of its own and not methods, so that a handler may take it apart. */
export class HandlerContext implements TaskContext {
  readonly #control: RunControl;
  readonly job: Job;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly workerId: string;
  readonly parentResults: readonly Json[];
  readonly lastCheckpoint: JsonObject | null;
  declare readonly signal: AbortSignal;
  readonly progress: TaskContext['progress'];
  readonly checkpoint: TaskContext['checkpoint'];
  readonly log: TaskContext['log'];
  readonly complete: TaskContext['complete'];
  readonly snooze: TaskContext['snooze'];
  readonly discard: TaskContext['discard'];
  readonly cancel: TaskContext['cancel'];

  /**
   * The same for all contexts: with a getter of its own each would be of a shape of its own, which V8 keeps in the old
   * generation, and with it all that the run has made.
   */
  static readonly #SIGNAL: PropertyDescriptor & ThisType<HandlerContext> = {
    enumerable: true,
    get() {
      return this.#control.signal;
    },
  };

  constructor({ job, parentResults, checkpoint }: Lease, control: RunControl, hearer: Hearer) {
    this.#control = control;
    this.job = job;
    this.attempt = job.attempt;
    this.maxAttempts = job.maxAttempts;
    this.workerId = hearer.workerId;
    this.parentResults = parentResults ?? NO_RESULTS;
    this.lastCheckpoint = checkpoint ?? null;
    Object.defineProperty(this, 'signal', HandlerContext.#SIGNAL);
    this.progress = (fraction, detail) => hearer.progress(fraction, detail);
    this.checkpoint = (state) => hearer.checkpoint(state);
    this.log = (message, fields = {}) => hearer.log(message, fields);
    this.complete = (result, { within }) => hearer.complete(result, within);
    this.snooze = (until) => {
      const then = until instanceof Date ? until.getTime() : hearer.now() + Math.round(until);
      return hearer.end('snooze', { kind: 'snoozed', until: then });
    };
    this.discard = (reason) => {
      const error = { code: 'discarded', type: 'discarded', message: String(reason) };
      return hearer.end('discard', { kind: 'discarded', error });
    };
    this.cancel = (reason) => hearer.end('cancel', { kind: 'cancelled', reason: String(reason) });
  }
}
