import {
  checkJson,
  isObject,
  type Job,
  type Jobs,
  type Json,
  type JsonObject,
  type Lease,
  type Outcome,
  type Transaction,
  WaybillError,
} from '@waybill/core';
import type { ContextHooks, TaskContext } from '../context.ts';
import { type OutcomeParts, outcomeOf } from './outcome.ts';
import type { Validated } from './pipeline.ts';
import { type RunControl, serverNow } from './run-control.ts';
import { RunReports, type RunReportsParts } from './run-reports.ts';

/** The same for all runs of a worker. */
export interface RunContextParts extends ContextHooks, RunReportsParts, OutcomeParts {
  jobs: Pick<Jobs, 'report' | 'settle'>;
  workerId: string;
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
  readonly #run: RunContext;

  constructor(run: RunContext, { job, parentResults, checkpoint }: Lease, workerId: string) {
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

/** The context of one run, and what the pipeline knows about it. */
export class RunContext {
  readonly context: TaskContext;
  /** What the handler asked for by snooze, discard or cancel. Kept here, since a `catch` on the way may swallow it. */
  asked: Outcome | undefined;
  /** Whether the handler has completed the run itself; whether that was committed, only the row knows. */
  isCompletedWithin = false;
  #state: 'live' | 'abandoned' | 'over' = 'live';
  readonly #run: Validated;
  readonly #control: RunControl;
  readonly #parts: RunContextParts;
  /** Made with the first word: most runs say nothing. */
  #reports: RunReports | undefined;

  constructor(run: Validated, control: RunControl, parts: RunContextParts) {
    this.#run = run;
    this.#control = control;
    this.#parts = parts;
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
    await completeWithin(this.#run, result, within, this.#parts);
    this.isCompletedWithin = true;
    return result;
  }

  snooze(until: number | Date): never {
    const moment =
      until instanceof Date
        ? until.getTime()
        : serverNow(this.#run.lease, this.#control, this.#parts.clock) + Math.round(until);
    return this.end('snooze', { kind: 'snoozed', until: moment });
  }

  end(method: string, outcome: Outcome): never {
    if (this.#isLive(method)) {
      if (outcome.kind === 'snoozed' && 'until' in outcome && !Number.isFinite(outcome.until)) {
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

/** What the handler's own transaction completes is what a return would have completed, and is refused for the same. */
async function completeWithin(
  { lease, task }: Validated,
  result: unknown,
  within: Transaction,
  parts: RunContextParts,
): Promise<void> {
  const { job, token } = lease;
  const outcome = outcomeOf({ kind: 'returned', value: result }, parts, task);
  if (outcome.kind === 'failed') throw new WaybillError('invalid_request', outcome.error.message);
  await parts.jobs.settle({ id: job.id, tenant: job.tenant, leaseToken: token, outcome, within });
}
