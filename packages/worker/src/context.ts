import type {
  Job,
  Json,
  JsonObject,
  LeaseRevision,
  LogLevel,
  QuestionAnswer,
  QuestionInput,
  Spending,
  Transaction,
} from '@waybill/core';
import type { EnqueuedFromRun, EnqueueGiven } from './enqueue-options.ts';
import type { EmitOptions, LogOptions, OutputOptions } from './journal/pending-entry.ts';
import type { NoParents, ParentResults } from './parents.ts';
import type { RunFiles } from './run-files.ts';
import type { TypedTask } from './typed-task.ts';

/** What `context.ask` takes. */
export interface AskOptions extends QuestionInput {
  /**
   * Names the question among those of the job: asked again under the same key, it is the same question, whatever its text.
   * @defaultValue the same text with the same choices is the same question; asked twice in a run, it is two
   */
  key?: string;
}

/** What came of a question. */
export type Answer =
  | ({ readonly status: 'answered' } & Readonly<QuestionAnswer>)
  /** Nobody has answered until then. */
  | { readonly status: 'expired'; readonly at: number };

/**
 * What a handler is given besides its input. May be taken apart, `async (input, { signal, progress }) => ..`; a copy by
 * `{ ...context }` has the facts only, not the functions.
 */
export interface TaskContext<Parents = NoParents> {
  readonly job: Job;
  /** From 1; snoozed and handed-back runs do not count. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly workerId: string;
  /** Results of the parents, where the job is a node of a workflow. */
  readonly parentResults: readonly Json[];
  /** The same by name, as far as the producer has named them; see `parents` of a task. Null where a parent was skipped. */
  readonly parents: ParentResults<Parents>;
  /** What a reviewer asked for, with the output of the iteration before; null in the first iteration, and without a review. */
  readonly revision: LeaseRevision | null;
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
  /**
   * Adds an entry to the journal of the job, with data that is JSON. Entries of a run are kept in order. Not critical, it
   * never waits and never fails. Critical, it resolves when the entry is safe; when it cannot be stored, the promise rejects
   * and the run fails, awaited or not.
   */
  emit(name: string, data?: unknown, options?: EmitOptions): Promise<void>;
  /** Adds what a process has printed to the journal: text, or any bytes. Best effort: where too much waits, it is dropped and counted. */
  output(data: string | Uint8Array, options?: OutputOptions): void;
  /**
   * Adds to what is used of the budgets that all jobs of the tenant share, or those with this `key`: `{ pages: 3 }`. Answers
   * what is left of each, and which are used up; an amount of 0 only asks. When the engine cannot be reached the promise
   * rejects, and the amounts are sent with the next call or at the end of the run. See docs/budgets.md.
   */
  spend(amounts: Readonly<Record<string, number>>, options?: { key?: string | undefined }): Promise<Spending>;
  /** A line for the logger of the worker, and an entry of the type `log` in the journal. Both have the level, which is 'info' unless given. */
  log(message: string, fields?: object, options?: LogOptions): void;
  /**
   * Completes the run inside of a transaction of the handler's own: what it wrote there and the end of the job are
   * committed together or not at all. Answers the result, to be returned after the commit. When the run is not ours any
   * more it throws `lease_lost`, so that everything is rolled back. Only on PostgreSQL, see docs/postgres.md.
   */
  complete<Result>(result: Result, options: { within: Transaction }): Promise<Result>;
  /**
   * Enqueues a job of the same tenant, which has the id of this one as `parent_id` in its meta and goes on with its trace.
   * A run that is repeated enqueues it again, unless an `idempotencyKey` says which job it is.
   */
  enqueue<T extends TypedTask>(task: T, ...given: EnqueueGiven<T>): Promise<EnqueuedFromRun>;
  /**
   * Asks a person or another system. Where there is no answer yet, the run ends here and the job sleeps without a worker; with
   * the answer it starts again from the beginning, and the same call returns it. Counts neither as failure nor as attempt.
   * Asked one at a time. See docs/questions.md.
   */
  ask(question: AskOptions): Promise<Answer>;
  /** Files of the job, which its next run finds too. Kept where the worker keeps large payloads. */
  readonly files: RunFiles;
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
  level: LogLevel;
  message: string;
  fields: object;
}

export interface ContextHooks {
  onProgress?(progress: Progress): void;
  onLog?(entry: LogEntry): void;
}
