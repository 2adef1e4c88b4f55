// What users define and run.

export type { LimitOptions, RateOptions, UniqueOptions } from '@waybill/core';
export type { LogEntry, Progress, TaskContext } from './context.ts';
export { type InProcessOptions, inProcessRunner } from './execute/in-process.ts';
export type { Middleware } from './execute/middleware.ts';
export type { Jsonified } from './jsonified.ts';
export type { WorkerOptions } from './options.ts';
export type { QueueOptions, QueueOrder } from './queue-options.ts';
export type { EnqueueOptions } from './request.ts';
export type { SchemaIssue, SchemaResult, StandardSchemaV1 } from './standard-schema.ts';
export {
  type AnyTask,
  type Task,
  type TaskInput,
  type TaskOptions,
  type TaskPolicy,
  type TaskResult,
  task,
} from './task.ts';
export type { PolicyDefaults, TaskDefaults } from './task-defaults.ts';
export { Worker } from './worker.ts';

// What runners are built from.

export { InvalidResult } from './execute/outcome.ts';
export type { ReadonlyRunControl, Runner } from './execute/runner.ts';

// What SDKs and test kits are built from.

export { type Ended, execute, type Stages, type Validated } from './execute/pipeline.ts';
export { RunControl } from './execute/run-control.ts';
export { type RunTaskParts, runTask } from './execute/run-task.ts';
export { toJson } from './jsonified.ts';
export { ENQUEUE_OPTIONS, requestFor } from './request.ts';
export { inputOf } from './task.ts';
export { checkTaskDefaults } from './task-defaults.ts';
