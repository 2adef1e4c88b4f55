import type { DescService } from '@bufbuild/protobuf';
import type { Scope } from '@waybill/core';
import {
  health,
  JobEventsService,
  JobService,
  LogService,
  reflection,
  reflectionAlpha,
  WorkerService,
} from '@waybill/protocol';

/** What a method asks of its caller: a scope, a key of any scope, or nothing. */
export type Access = Scope | 'any key' | 'no key';

/** In the order in which reflection and the manual list them. */
export const SERVICES: readonly DescService[] = [
  ...[JobService, WorkerService, JobEventsService, LogService],
  ...[health.Health, reflection.ServerReflection, reflectionAlpha.ServerReflection],
];

type MethodsOf<S extends DescService, A extends Access = Access> = Readonly<Record<keyof S['method'], A>>;

/**
 * Which scope each method takes. The scoped port enforces it, as it does for HTTP; this table is for readers and for the
 * walk, which tries every method with keys of every scope.
 */
const JOBS: MethodsOf<typeof JobService> = {
  enqueueJob: 'enqueue',
  enqueueJobs: 'enqueue',
  getJob: 'read',
  listJobs: 'read',
  getProgress: 'read',
  cancelJob: 'enqueue',
  retryJob: 'admin',
  activateJob: 'enqueue',
  dequeueJobs: 'work',
  updateJobVisibility: 'work',
  completeJob: 'work',
};
const WORKERS: MethodsOf<typeof WorkerService> = {
  claim: 'work',
  heartbeat: 'work',
  settle: 'work',
  report: 'work',
  ask: 'work',
  spend: 'work',
};
const JOB_EVENTS: MethodsOf<typeof JobEventsService> = {
  publishEvents: 'work',
  appendEvents: 'work',
  readEvents: 'read',
  streamEvents: 'read',
};
const LOG: MethodsOf<typeof LogService> = { read: 'read', end: 'read', follow: 'read' };
const HEALTH: MethodsOf<typeof health.Health> = { check: 'no key', list: 'no key', watch: 'no key' };
const REFLECTION: MethodsOf<typeof reflection.ServerReflection> = { serverReflectionInfo: 'any key' };

export const METHOD_ACCESS: ReadonlyMap<DescService, Readonly<Record<string, Access>>> = new Map<
  DescService,
  Readonly<Record<string, Access>>
>([
  [JobService, JOBS],
  [WorkerService, WORKERS],
  [JobEventsService, JOB_EVENTS],
  [LogService, LOG],
  [health.Health, HEALTH],
  [reflection.ServerReflection, REFLECTION],
  [reflectionAlpha.ServerReflection, REFLECTION],
]);
