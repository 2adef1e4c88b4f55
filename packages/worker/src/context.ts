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
import { HandlerContext, type Hearer } from './handler-context.ts';
import { RunReports, type RunReportsParts } from './run-reports.ts';

/** What a handler is given besides its input. */
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

export interface ContextParts {
  /** Of the worker, the same for all its runs. */
  parts: ContextHooks & RunReportsParts & { workerId: string };
  /** The server's time, which `snoozed` is told in. */
  now(): number;
  /** Settles the run as completed inside of a transaction. */
  complete(result: unknown, within: Transaction): Promise<void>;
}

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

/** The context of one run, and what its worker knows about it. */
export class RunContext implements Hearer {
  readonly context: TaskContext;
  /** What the handler asked for by snooze, discard or cancel. Kept here, since a `catch` on the way may swallow it. */
  asked: Outcome | undefined;
  /** Whether the handler has completed the run itself; whether that was committed, only the row knows. */
  isCompletedWithin = false;
  #state: 'live' | 'abandoned' | 'over' = 'live';
  readonly #lease: Lease;
  readonly #own: ContextParts;
  /** Made with the first word: most runs say nothing. */
  #reports: RunReports | undefined;

  constructor(lease: Lease, control: RunControl, own: ContextParts) {
    this.#lease = lease;
    this.#own = own;
    this.context = new HandlerContext(lease, control, this);
  }

  get workerId(): string {
    return this.#own.parts.workerId;
  }

  now(): number {
    return this.#own.now();
  }

  /** The run is settled. `goesOn`: its handler has not ended yet, so what it throws is still caught. */
  close({ goesOn }: { goesOn: boolean }): void {
    this.#state = goesOn ? 'abandoned' : 'over';
  }

  get hasReported(): boolean {
    return this.#reports !== undefined;
  }

  /** Resolves when what the run said last has arrived, or nobody waits for it any longer. */
  async lastReport(): Promise<void> {
    await this.#reports?.end();
  }

  #report(word: Parameters<RunReports['tell']>[0]): void {
    this.#reports ??= new RunReports(this.#lease, this.#own.parts);
    this.#reports.tell(word);
  }

  progress(given: number, detail: string | JsonObject | undefined): void {
    if (!this.#isLive('progress')) return;
    const fraction = Math.min(1, Math.max(0, Number(given) || 0));
    const data = detail === undefined ? undefined : typeof detail === 'string' ? { message: detail } : plain(detail);
    const { job } = this.#lease;
    this.#report({ fraction, ...(data && { data }) });
    const message = data?.['message'];
    this.#tell(() =>
      this.#own.parts.onProgress?.({
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
    const { job } = this.#lease;
    const { logger, onLog } = this.#own.parts;
    logger.info({ ...fields, task: job.type, job: job.id, run: job.run }, message);
    this.#tell(() => onLog?.({ job, message, fields }));
  }

  async complete<Result>(result: Result, within: Transaction): Promise<Result> {
    if (!this.#isLive('complete')) throw new WaybillError('lease_lost', 'The run is over; roll the transaction back.');
    await this.#own.complete(result, within);
    this.isCompletedWithin = true;
    return result;
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
    const { job } = this.#lease;
    const { logger } = this.#own.parts;
    const fields = { task: job.type, job: job.id, run: job.run };
    logger.warn(fields, `Task '${job.type}' called context.${method}() after its run had ended; it has no effect.`);
    return false;
  }

  /** A hook is not the handler's business: its failure must not become the job's. */
  #tell(hook: () => void): void {
    try {
      hook();
    } catch (error) {
      const { job } = this.#lease;
      const { logger } = this.#own.parts;
      logger.warn({ err: error, task: job.type, job: job.id }, 'A hook of the worker threw.');
    }
  }
}
