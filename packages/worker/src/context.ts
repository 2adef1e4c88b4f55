import type { Job, Json, JsonObject, Transaction } from '@waybill/core';

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
