// Typed tasks.

export {
  type AnyTask,
  type EmitOptions,
  InvalidResult,
  type IsolatedOptions,
  type IsolatedTaskOptions,
  type IsolateOptions,
  inProcessRunner,
  isolatedRunner,
  type JournalOptions,
  type LogOptions,
  type Middleware,
  type OutputOptions,
  type QueueOptions,
  RunFailure,
  type RunFiles,
  type Runner,
  type Signal,
  signal,
  type Task,
  type TaskContext,
  task,
  Worker,
} from '@waybill/worker';
export { defineConfig } from './config/define-config.ts';
export type { WaybillConfig } from './config/waybill-config.ts';
export {
  type Connection,
  connect,
  type Enqueued,
  type StopSignal,
  type WorkOptions,
} from './sdk/connect.ts';
export type { ConnectOptions } from './sdk/connect-options.ts';
export type { ScheduleRequest } from './sdk/schedule-request.ts';
export type { ScheduleOptions } from './sdk/schedule-task.ts';
export { jobOf, type TaskJob, type TaskJobOptions } from './sdk/task-job.ts';
export { type VerifyOptions, verifyWebhook, type WebhookHeaders } from './sdk/verify-webhook.ts';
export type { WaitOptions } from './sdk/wait.ts';
export type { BuildOptions, MapOptions, NodeOptions, WorkflowBuilder, WorkflowNodeOf } from './sdk/workflow-builder.ts';
export type { WorkflowRequest } from './sdk/workflow-request.ts';
export type { EndedWorkflow, StartedWorkflow } from './sdk/workflow-wait.ts';

// The engine underneath.

export {
  type Engine,
  type Explanation,
  engine,
  type JournalEntry,
  type Logger,
  type Principal,
  type Scope,
  scoped,
  silentLogger,
  stderrLogger,
  WaybillError,
} from '@waybill/core';
export { openStore } from './connect/open-store.ts';
