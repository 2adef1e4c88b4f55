import {
  checkJson,
  isObject,
  type Job,
  type Json,
  type JsonObject,
  type Lease,
  type Outcome,
  type Transaction,
  WaybillError,
} from '@waybill/core';
import type { RunControl } from './execute/run-control.ts';
import { RunReports, type RunReportsParts } from './run-reports.ts';

/**
 * What a handler is given besides its input. May be taken apart, `async (input, { signal, progress }) => ..`; a copy by
 * `{ ...context }` has the facts only, not the functions.
 */
export interface TaskContext {
  readonly job: Job;
  /** From 1; snoozed and handed-back runs do not count. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly workerId: string;
  /** Results of the parents, where the job is a node of a workflow. */
  readonly parentResults: readonly Json[];
  /** Aborted when the run must end: timed out, lease lost, cancelled, worker stopping. Its reason says which. */
  readonly signal: AbortSignal;
  /** What an earlier run of this job left by `checkpoint`; null where there is nothing to go on from. */
  readonly lastCheckpoint: JsonObject | null;
  /**
   * How much is done, 0 to 1, and a word or facts about it for whoever watches. Kept and told to the world at most once
   * a second: call it as often as you like.
   */
  progress(fraction: number, detail?: string | JsonObject): void;
  /** What the next run shall find in `lastCheckpoint`, should this one not come to its end. Travels like progress. */
  checkpoint(state: JsonObject): void;
  log(message: string, fields?: object): void;
  /**
   * Completes the run inside of a transaction of the handler's own: what it wrote there and the end of the job are
   * committed together or not at all. Answers the result, to be returned after the commit. When the run is not ours any
   * more it throws `lease_lost`, so that everything is rolled back. Only on PostgreSQL, see docs/postgres.md.
   */
  complete<Result>(result: Result, options: { within: Transaction }): Promise<Result>;
  /** Ends the run: try again after so many milliseconds, or then. Counts neither as failure nor as attempt. */
  snooze(until: number | Date): never;
  /** Ends the run and the job: there is no point in trying again. */
  discard(reason: string): never;
  /** Ends the run and the job: it is not wanted any more. */
  cancel(reason: string): never;
}

export interface Progress {
  job: Job;
  fraction: number;
  message?: string;
  data?: JsonObject;
}

export interface LogEntry {
  job: Job;
  message: string;
  fields: object;
}

export interface ContextHooks {
  onProgress?(progress: Progress): void;
  onLog?(entry: LogEntry): void;
}

/** What the worker has for all its runs. */
export interface ContextParts extends ContextHooks, RunReportsParts {
  workerId: string;
}

/** What a context asks of whoever runs the handler; the same for all runs. */
export interface ContextCalls<Run, Parts> {
  /** The server's time, which `snoozed` is told in. */
  now(run: Run, control: RunControl, parts: Parts): number;
  /** Settles the run as completed inside of a transaction. */
  complete(run: Run, result: unknown, within: Transaction, parts: Parts): Promise<void>;
}

/** Without its private parts, so that a context of whatever runs fits. */
type AnyRun = Pick<RunContext<{ lease: Lease }, ContextParts>, keyof RunContext<{ lease: Lease }, ContextParts>>;

/** Thrown to leave the handler from any depth. Not an Error: nobody should take it for one, or pay for a stack. */
class Ending {
  readonly outcome: Outcome;
  constructor(outcome: Outcome) {
    this.outcome = outcome;
  }
}

/** A copy as JSON would carry it, so that what the handler changes later is not sent instead. */
function plain(value: JsonObject): JsonObject {
  const copy: unknown = JSON.parse(JSON.stringify(value) ?? 'null');
  if (!isObject(copy)) throw new TypeError('progress() and checkpoint() take an object.');
  checkJson(copy);
  return copy;
}

const NO_RESULTS: readonly Json[] = Object.freeze([]);

/**
 * What a handler sees of its run. A function is made when it is asked for, so that it may be taken out of the context and
 * handed on: most handlers ask for none of them, and eight for each run would cost more than the run.
 */
class HandlerContext implements TaskContext {
  readonly job: Job;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly workerId: string;
  readonly parentResults: readonly Json[];
  readonly lastCheckpoint: JsonObject | null;
  readonly #run: AnyRun;

  constructor(run: AnyRun, { job, parentResults, checkpoint }: Lease, workerId: string) {
    this.job = job;
    this.attempt = job.attempt;
    this.maxAttempts = job.maxAttempts;
    this.workerId = workerId;
    this.parentResults = parentResults ?? NO_RESULTS;
    this.lastCheckpoint = checkpoint ?? null;
    this.#run = run;
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }

  get progress(): TaskContext['progress'] {
    return (fraction, detail) => this.#run.progress(fraction, detail);
  }

  get checkpoint(): TaskContext['checkpoint'] {
    return (state) => this.#run.checkpoint(state);
  }

  get log(): TaskContext['log'] {
    return (message, fields = {}) => this.#run.log(message, fields);
  }

  get complete(): TaskContext['complete'] {
    return (result, { within }) => this.#run.complete(result, within);
  }

  get snooze(): TaskContext['snooze'] {
    return (until) => this.#run.snooze(until);
  }

  get discard(): TaskContext['discard'] {
    return (reason) => {
      const error = { code: 'discarded', type: 'discarded', message: String(reason) };
      return this.#run.end('discard', { kind: 'discarded', error });
    };
  }

  get cancel(): TaskContext['cancel'] {
    return (reason) => this.#run.end('cancel', { kind: 'cancelled', reason: String(reason) });
  }
}

/** The context of one run, and what its worker knows about it. */
export class RunContext<Run extends { lease: Lease }, Parts extends ContextParts> {
  readonly context: TaskContext;
  /** What the handler asked for by snooze, discard or cancel. Kept here, since a `catch` on the way may swallow it. */
  asked: Outcome | undefined;
  /** Whether the handler has completed the run itself; whether that was committed, only the row knows. */
  isCompletedWithin = false;
  #state: 'live' | 'abandoned' | 'over' = 'live';
  readonly #run: Run;
  readonly #control: RunControl;
  readonly #parts: Parts;
  readonly #calls: ContextCalls<Run, Parts>;
  /** Made with the first word: most runs say nothing. */
  #reports: RunReports | undefined;

  constructor(run: Run, control: RunControl, parts: Parts, calls: ContextCalls<Run, Parts>) {
    this.#run = run;
    this.#control = control;
    this.#parts = parts;
    this.#calls = calls;
    this.context = new HandlerContext(this, run.lease, parts.workerId);
  }

  /** The run is settled. `goesOn`: its handler has not ended yet, so what it throws is still caught. */
  close({ goesOn }: { goesOn: boolean }): void {
    this.#state = goesOn ? 'abandoned' : 'over';
  }

  /** Whether the handler did more than its work: asked for an outcome, reported, or completed the run itself. */
  get hasSpoken(): boolean {
    return this.asked !== undefined || this.#reports !== undefined || this.isCompletedWithin;
  }

  get hasReported(): boolean {
    return this.#reports !== undefined;
  }

  /** Resolves when what the run said last has arrived, or nobody waits for it any longer. */
  async lastReport(): Promise<void> {
    await this.#reports?.end();
  }

  get signal(): AbortSignal {
    return this.#control.signal;
  }

  #report(word: Parameters<RunReports['tell']>[0]): void {
    this.#reports ??= new RunReports(this.#run.lease, this.#parts);
    this.#reports.tell(word);
  }

  progress(given: number, detail: string | JsonObject | undefined): void {
    if (!this.#isLive('progress')) return;
    const fraction = Math.min(1, Math.max(0, Number(given) || 0));
    const data = detail === undefined ? undefined : typeof detail === 'string' ? { message: detail } : plain(detail);
    const { job } = this.#run.lease;
    this.#report({ fraction, ...(data && { data }) });
    const message = data?.['message'];
    this.#tell(() =>
      this.#parts.onProgress?.({
        job,
        fraction,
        ...(typeof message === 'string' && { message }),
        ...(data && { data }),
      }),
    );
  }

  checkpoint(state: JsonObject): void {
    if (!this.#isLive('checkpoint')) return;
    this.#report({ checkpoint: plain(state) });
  }

  log(message: string, fields: object): void {
    if (!this.#isLive('log')) return;
    const { job } = this.#run.lease;
    const { logger, onLog } = this.#parts;
    logger.info({ ...fields, task: job.type, job: job.id, run: job.run }, message);
    this.#tell(() => onLog?.({ job, message, fields }));
  }

  async complete<Result>(result: Result, within: Transaction): Promise<Result> {
    if (!this.#isLive('complete')) throw new WaybillError('lease_lost', 'The run is over; roll the transaction back.');
    await this.#calls.complete(this.#run, result, within, this.#parts);
    this.isCompletedWithin = true;
    return result;
  }

  snooze(until: number | Date): never {
    const moment =
      until instanceof Date
        ? until.getTime()
        : this.#calls.now(this.#run, this.#control, this.#parts) + Math.round(until);
    return this.end('snooze', { kind: 'snoozed', until: moment });
  }

  end(method: string, outcome: Outcome): never {
    if (this.#isLive(method)) {
      if (outcome.kind === 'snoozed' && !Number.isFinite(outcome.until)) {
        throw new TypeError('snooze() takes milliseconds or a Date.');
      }
      this.asked ??= outcome;
    }
    // Thrown after the handler has returned, nobody would catch it and the whole process would end.
    if (this.#state === 'over') return undefined as never;
    throw new Ending(outcome);
  }

  #isLive(method: string): boolean {
    if (this.#state === 'live') return true;
    const { job } = this.#run.lease;
    const { logger } = this.#parts;
    const fields = { task: job.type, job: job.id, run: job.run };
    logger.warn(fields, `Task '${job.type}' called context.${method}() after its run had ended; it has no effect.`);
    return false;
  }

  /** A hook is not the handler's business: its failure must not become the job's. */
  #tell(hook: () => void): void {
    try {
      hook();
    } catch (error) {
      const { job } = this.#run.lease;
      const { logger } = this.#parts;
      logger.warn({ err: error, task: job.type, job: job.id }, 'A hook of the worker threw.');
    }
  }
}
