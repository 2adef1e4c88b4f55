export { type EventStreamOptions, eventStreamHandler } from './event-stream-handler.ts';
export type { BatchResponse, LambdaContext, SqsEvent, SqsRecord, StreamEvent, StreamRecord } from './lambda-types.ts';
export type { LambdaAdopt } from './read-record.ts';
export type { WorkerJobs } from './record-jobs.ts';
export { type LambdaWorker, type WorkerHandlerOptions, workerHandler } from './worker-handler.ts';
