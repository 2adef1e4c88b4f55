import type { TaskContext } from '../context.ts';
import type { AnyTask } from '../task.ts';
import type { Validated } from './pipeline.ts';
import type { RunControl } from './run-control.ts';

/** What a runner sees of a run's control. Only the worker aborts a run. */
export type ReadonlyRunControl = Pick<RunControl, 'claimedAt' | 'isAborted' | 'reason' | 'signal' | 'onRenewed'>;

/**
 * Where handlers run: in this process, in a child process, as a command. A runner belongs to one worker. The pipeline
 * does the rest for every runner alike: validation, middleware, timeout, reports, outcome, abandonment and settling.
 * `testRunner` of `@waybill/worker/testing` is its contract.
 */
export interface Runner {
  /** What `task.runner` names. */
  readonly name: string;
  /** How many runs the worker starts at once, 1 to 1000. */
  readonly concurrency: number;
  /**
   * How long a run may take to end after its signal has aborted. Its slot stays taken so long; then the pipeline
   * abandons the run and gives the slot to the next job.
   * @defaultValue 0: the slot is free at once, because code in this process cannot be killed
   */
  readonly abortGraceMs?: number;
  /**
   * Whether the worker aborts a run that it cannot keep: when three heartbeats in a row have failed, or when the lease has ended.
   * @defaultValue false: the handler goes on, and is told when the server answers again
   */
  readonly endsWithLease?: boolean;
  /** Called once for each task of the runner when the worker starts, so that it can get ready ahead of the first run. */
  prepare?(task: AnyTask): void;
  /**
   * Returns what the handler returned, or a promise of it. Throws or rejects with what the handler threw. A runner passes
   * what the handler reports, says and asks on to `context`. Where the handler asks for another outcome, it calls
   * `context.snooze`, `discard` or `cancel`, and lets what these throw pass; `context.ask` rejects so where it has no answer.
   */
  run(validated: Validated, control: ReadonlyRunControl, context: TaskContext): unknown;
  /** Called once, when the worker has stopped. No run is under way, except for those that were abandoned. */
  stop(): Promise<void>;
}
