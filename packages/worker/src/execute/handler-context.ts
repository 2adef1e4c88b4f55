import type { Job, Json, JsonObject, Lease, LeaseRevision, Outcome, Spending, Transaction } from '@waybill/core';
import type { Answer, AskOptions, TaskContext } from '../context.ts';
import type { EnqueuedFromRun, RunEnqueueOptions } from '../enqueue-options.ts';
import type { EmitOptions, LogOptions, OutputOptions } from '../journal/pending-entry.ts';
import { parentsByName } from '../parents.ts';
import type { RunFiles } from '../run-files.ts';
import type { TypedTask } from '../typed-task.ts';
import type { Amounts } from './run-spending.ts';

/** What a handler may ask of its run. */
export interface RunCalls {
  readonly signal: AbortSignal;
  readonly files: RunFiles;
  progress(fraction: number, detail: string | JsonObject | undefined): void;
  checkpoint(state: JsonObject): void;
  emit(name: string, data: unknown, options: EmitOptions): Promise<void>;
  output(data: string | Uint8Array, options: OutputOptions): void;
  spend(amounts: Amounts, key: string | undefined): Promise<Spending>;
  log(message: string, fields: object, options: LogOptions): void;
  complete<Result>(result: Result, within: Transaction): Promise<Result>;
  ask(question: AskOptions): Promise<Answer>;
  enqueue(task: TypedTask, input: unknown, options: RunEnqueueOptions | undefined): Promise<EnqueuedFromRun>;
  snooze(until: number | Date): never;
  /** Leaves the handler with this outcome. */
  end(method: string, outcome: Outcome): never;
}

const NO_RESULTS: readonly Json[] = Object.freeze([]);

/**
 * What a handler sees of its run. A function is made when it is asked for, so that it may be taken out of the context and
 * handed on: most handlers ask for none of them, and eight for each run would cost more than the run.
 */
export class HandlerContext implements TaskContext {
  readonly job: Job;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly workerId: string;
  readonly parentResults: readonly Json[];
  readonly revision: LeaseRevision | null;
  readonly lastCheckpoint: JsonObject | null;
  readonly #run: RunCalls;

  constructor(run: RunCalls, { job, parentResults, revision, checkpoint }: Lease, workerId: string) {
    this.job = job;
    this.attempt = job.attempt;
    this.maxAttempts = job.maxAttempts;
    this.workerId = workerId;
    this.parentResults = parentResults ?? NO_RESULTS;
    this.revision = revision ?? null;
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

  get emit(): TaskContext['emit'] {
    return (name, data, options = {}) => this.#run.emit(name, data, options);
  }

  get output(): TaskContext['output'] {
    return (data, options = {}) => this.#run.output(data, options);
  }

  get spend(): TaskContext['spend'] {
    return (amounts, options = {}) => this.#run.spend(amounts, options.key);
  }

  get log(): TaskContext['log'] {
    return (message, fields = {}, options = {}) => this.#run.log(message, fields, options);
  }

  get complete(): TaskContext['complete'] {
    return (result, { within }) => this.#run.complete(result, within);
  }

  get ask(): TaskContext['ask'] {
    return (question) => this.#run.ask(question);
  }

  get enqueue(): TaskContext['enqueue'] {
    return (task, ...[input, options]) => this.#run.enqueue(task, input, options);
  }

  get parents(): Readonly<Record<string, Json>> {
    return parentsByName(this.job, this.parentResults);
  }

  get files(): RunFiles {
    return this.#run.files;
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
