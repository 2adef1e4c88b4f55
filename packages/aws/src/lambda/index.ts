export type { BatchResponse, LambdaContext, SqsEvent, SqsRecord } from './lambda-types.ts';
export type { LambdaAdopt } from './read-record.ts';
export type { WorkerJobs } from './record-jobs.ts';
export { type LambdaWorker, type WorkerHandlerOptions, workerHandler } from './worker-handler.ts';
