import { checkJson, isObject, type Job, type Json, type JsonObject, type Logger, type Outcome } from '@waybill/core';
import type { RunReports } from './run-reports.ts';

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

export interface ContextParts extends ContextHooks {
  job: Job;
  parentResults: readonly Json[];
  lastCheckpoint: JsonObject | null;
  reports: RunReports;
  workerId: string;
  signal: AbortSignal;
  logger: Logger;
  /** The server's time, which `snoozed` is told in. */
  serverNow(): number;
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
export class RunContext {
  readonly context: TaskContext;
  /** What the handler asked for by snooze, discard or cancel. Kept here, since a `catch` on the way may swallow it. */
  asked: Outcome | undefined;
  #state: 'live' | 'abandoned' | 'over' = 'live';
  readonly #parts: ContextParts;

  constructor(parts: ContextParts) {
    const { job, parentResults, lastCheckpoint, workerId, signal, serverNow } = parts;
    this.#parts = parts;
    this.context = {
      job,
      attempt: job.attempt,
      maxAttempts: job.maxAttempts,
      workerId,
      parentResults,
      lastCheckpoint,
      signal,
      progress: (fraction, detail) => this.#progress(fraction, detail),
      checkpoint: (state) => this.#checkpoint(state),
      log: (message, fields = {}) => this.#log(message, fields),
      snooze: (until) =>
        this.#end('snooze', {
          kind: 'snoozed',
          until: until instanceof Date ? until.getTime() : serverNow() + Math.round(until),
        }),
      discard: (reason) =>
        this.#end('discard', {
          kind: 'discarded',
          error: { code: 'discarded', type: 'discarded', message: String(reason) },
        }),
      cancel: (reason) => this.#end('cancel', { kind: 'cancelled', reason: String(reason) }),
    };
  }

  /** The run is settled. `goesOn`: its handler has not ended yet, so what it throws is still caught. */
  close({ goesOn }: { goesOn: boolean }): void {
    this.#state = goesOn ? 'abandoned' : 'over';
  }

  #progress(given: number, detail: string | JsonObject | undefined): void {
    if (!this.#isLive('progress')) return;
    const fraction = Math.min(1, Math.max(0, Number(given) || 0));
    const data = detail === undefined ? undefined : typeof detail === 'string' ? { message: detail } : plain(detail);
    const { job, onProgress, reports } = this.#parts;
    reports.tell({ fraction, ...(data && { data }) });
    const message = data?.['message'];
    this.#tell(() =>
      onProgress?.({ job, fraction, ...(typeof message === 'string' && { message }), ...(data && { data }) }),
    );
  }

  #checkpoint(state: JsonObject): void {
    if (!this.#isLive('checkpoint')) return;
    this.#parts.reports.tell({ checkpoint: plain(state) });
  }

  #log(message: string, fields: object): void {
    if (!this.#isLive('log')) return;
    const { job, logger, onLog } = this.#parts;
    logger.info({ ...fields, task: job.type, job: job.id, run: job.run }, message);
    this.#tell(() => onLog?.({ job, message, fields }));
  }

  #end(method: string, outcome: Outcome): never {
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
    const { job, logger } = this.#parts;
    const fields = { task: job.type, job: job.id, run: job.run };
    logger.warn(fields, `Task '${job.type}' called context.${method}() after its run had ended; it has no effect.`);
    return false;
  }

  /** A hook is not the handler's business: its failure must not become the job's. */
  #tell(hook: () => void): void {
    try {
      hook();
    } catch (error) {
      const { job, logger } = this.#parts;
      logger.warn({ err: error, task: job.type, job: job.id }, 'A hook of the worker threw.');
    }
  }
}
