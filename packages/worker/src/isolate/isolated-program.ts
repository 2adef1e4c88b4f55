import type { Job, Json, Lease, Logger } from '@waybill/core';
import type { TaskContext } from '../context.ts';
import type { AnyTask } from '../task.ts';
import type { ContainedHooks, ContainedProcess, ProcessEnd } from './contained.ts';
import type { ResolvedIsolate } from './isolate-options.ts';

/** The same for all runs of a runner. */
export interface IsolationParts {
  logger: Logger;
  /** What a program that was told to end has, before it gets SIGTERM. */
  abortMs: number;
  /** Between SIGTERM and SIGKILL. */
  killAfterMs: number;
  /** From the abort of a run by a stopping worker to SIGKILL. Null: as at any other end. */
  stopMs: number | null;
  /** Marks the output of a run in the log. */
  label(job: Job): string;
  /** A larger result fails the run. */
  maxResultBytes: number;
  /** Of its options. */
  cgroup?: string | false;
}

/** What the two ways to run a task differ in: a module that Node loads, or any program. */
export interface IsolatedProgram {
  /** For the journal: what is started. */
  readonly shown: string;
  /** What it did last, as far as it tells. */
  readonly activity: string;
  start(run: RunHandover): Promise<ContainedProcess>;
  /** Asks the program to end by itself; false where it cannot be asked. */
  abort(code: string, message: string): boolean;
  /** What the run came to; throws what it failed with. */
  result(end: ProcessEnd): Promise<unknown>;
  /** Removes what the run has left. */
  clear(): Promise<void>;
}

/** The input of a run: as the job has it, and as the schema of its task has made it. */
export interface RunInput {
  raw: Json;
  /** Undefined where it is more than JSON, such as a Date. */
  made: Json | undefined;
  /** What the schema has made, whatever it is. */
  value: unknown;
}

/** Everything that a program is started with. */
export interface RunHandover {
  lease: Lease;
  task: AnyTask;
  context: TaskContext;
  isolate: ResolvedIsolate;
  parts: IsolationParts;
  input: RunInput;
  hooks: ContainedHooks;
}

/** Variables that tell a program which run it is. */
export const runVariables = ({
  lease: { job },
  task,
}: Pick<RunHandover, 'lease' | 'task'>): Record<string, string> => ({
  WAYBILL_JOB_ID: job.id,
  WAYBILL_JOB_TYPE: task.name,
  WAYBILL_QUEUE: job.queue,
  WAYBILL_TENANT: job.tenant,
  WAYBILL_RUN_NUMBER: String(job.run),
  WAYBILL_ATTEMPT: String(job.attempt),
});
