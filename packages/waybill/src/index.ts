// Typed tasks.

export {
  type AnyTask,
  InvalidResult,
  inProcessRunner,
  type Middleware,
  type QueueOptions,
  type Runner,
  type Task,
  type TaskContext,
  task,
  Worker,
} from '@waybill/worker';
export {
  type Connection,
  connect,
  type Enqueued,
  type StopSignal,
  type WorkOptions,
} from './sdk/connect.ts';
export type { ConnectOptions } from './sdk/connect-options.ts';
export type { ScheduleRequest } from './sdk/schedule-request.ts';
export { jobOf, type TaskJob, type TaskJobOptions } from './sdk/task-job.ts';
export type { WaitOptions } from './sdk/wait.ts';
export type { WorkflowRequest } from './sdk/workflow-request.ts';

// The engine underneath.

export {
  engine,
  type Logger,
  type Principal,
  type Scope,
  scoped,
  silentLogger,
  stderrLogger,
  WaybillError,
} from '@waybill/core';
export { openStore } from './connect/open-store.ts';
