export {
  type DeliveryFailure,
  type DeliveryFailureOptions,
  deliveryFailureHandler,
} from './delivery-failure-handler.ts';
export { DISPATCHED_ON, dispatcherHandler } from './dispatcher-handler.ts';
export { type DlqHandlerOptions, dlqHandler } from './dlq-handler.ts';
export { type EventStreamOptions, eventStreamHandler } from './event-stream-handler.ts';
export { type EngineHandlerOptions, type EngineParts, type FunctionEngine, functionEngine } from './function-engine.ts';
export {
  type HealthCheckOptions,
  type HealthChecks,
  healthCheckHandler,
  type TaskNotFound,
} from './health-check-handler.ts';
export type { HttpAnswer, HttpEvent } from './http-event.ts';
export { type HttpApp, type HttpBindings, type HttpHandlerOptions, httpHandler } from './http-handler.ts';
export type { BatchResponse, LambdaContext, SqsEvent, SqsRecord, StreamEvent, StreamRecord } from './lambda-types.ts';
export type { LambdaAdopt } from './read-record.ts';
export type { WorkerJobs } from './record-jobs.ts';
export { type ReviewNotice, type ReviewNotifierOptions, reviewNotifierHandler } from './review-notifier-handler.ts';
export { type SaveEventOptions, saveEventHandler } from './save-event-handler.ts';
export { taskEnqueuerHandler } from './task-enqueuer-handler.ts';
export { type UpkeepHandlerOptions, upkeepHandler } from './upkeep-handler.ts';
export { type LambdaWorker, type WorkerHandlerOptions, workerHandler } from './worker-handler.ts';
