// What users define and run.

export type { LimitOptions, RateOptions, UniqueOptions } from '@waybill/core';
export type { Answer, AskOptions, LogEntry, Progress, TaskContext } from './context.ts';
export type { EnqueuedFromRun, EnqueueOptions, RunEnqueueOptions } from './enqueue-options.ts';
export { type InProcessOptions, inProcessRunner } from './execute/in-process.ts';
export type { Middleware, MiddlewareCall, WorkerLoad } from './execute/middleware.ts';
export type { IsolateOptions } from './isolate/isolate-options.ts';
export { type IsolatedOptions, isolatedRunner } from './isolate/isolated-runner.ts';
export type { DropReason } from './journal/journal-counts.ts';
export type { JournalOptions, JournalPolicy } from './journal/journal-options.ts';
export type { EmitOptions, LogOptions, OutputOptions } from './journal/pending-entry.ts';
export type { Jsonified } from './jsonified.ts';
export type { WorkerOptions } from './options.ts';
export type { NoParents, ParentResult, ParentResults, ParentTasks } from './parents.ts';
export type { QueueOptions, QueueOrder } from './queue-options.ts';
export type { FileStore, RunFiles } from './run-files.ts';
export { type Signal, type SignalData, signal } from './signal.ts';
export type { SchemaIssue, SchemaResult, StandardSchemaV1 } from './standard-schema.ts';
export {
  type AnyTask,
  type IsolatedTaskOptions,
  type Task,
  type TaskOptions,
  task,
} from './task.ts';
export type { PolicyDefaults, TaskDefaults } from './task-defaults.ts';
export type { TaskPolicy } from './task-policy.ts';
export type { TaskInput, TaskResult, TypedTask } from './typed-task.ts';
export { Worker } from './worker.ts';

// What runners are built from.

export { RunFailure } from './execute/failure.ts';
export { InvalidResult } from './execute/outcome.ts';
export type { ReadonlyRunControl, Runner } from './execute/runner.ts';

// What SDKs and test kits are built from.

export { ENQUEUE_OPTIONS } from './enqueue-options.ts';
export { type Ended, execute, type Stages, type Validated } from './execute/pipeline.ts';
export { RunControl } from './execute/run-control.ts';
export { type RunTaskParts, runTask } from './execute/run-task.ts';
export { Journaling, type JournalingParts } from './journal/journaling.ts';
export {
  type OutboxContents,
  type OutboxFile,
  type OutboxFileState,
  readOutbox,
} from './journal/outbox/read-outbox.ts';
export { toJson } from './jsonified.ts';
export { checkGiven, PARENT_NAMES } from './parents.ts';
export { requestFor, templateFor } from './request.ts';
export { dataFor, isSignal } from './signal.ts';
export { inputOf } from './task.ts';
export { checkTaskDefaults } from './task-defaults.ts';
