import { createConnectRouter } from '@connectrpc/connect';
import type { UniversalHandler } from '@connectrpc/connect/protocol';
import { compressionGzip } from '@connectrpc/connect-node';
import { RECURSION } from '@waybill/client/rpc';
import type { Waybill } from '@waybill/core';
import {
  health,
  JobEventsService,
  JobService,
  LogService,
  reflection,
  reflectionAlpha,
  WorkerService,
} from '@waybill/protocol';
import type { Surface } from '../surface.ts';
import { callOf } from './call.ts';
import { gate, guard } from './guard.ts';
import { SERVICES } from './methods.ts';
import { healthService } from './services/health-service.ts';
import { jobEventsService } from './services/job-events-service.ts';
import { jobService } from './services/job-service.ts';
import { logService } from './services/log-service.ts';
import { reflectionServices } from './services/reflection-service.ts';
import { workerService } from './services/worker-service.ts';

/** The longest that a call may ask for; a stream without a deadline may go on for ever. */
const LONGEST_TIMEOUT_MS = 24 * 3_600_000;

/** Of a message from a caller without a key: it holds the name of a service. */
const MOST_OPEN_BYTES = 1_024;

/** Methods by their paths, such as `/waybill.v1.JobService/GetJob`. */
export type Handlers = ReadonlyMap<string, UniversalHandler>;

export interface RpcHandlers {
  /** Connect and gRPC-Web, which any HTTP server can speak. */
  web: Handlers;
  /** These and gRPC itself, which needs the trailers of HTTP/2. */
  grpc: Handlers;
}

export function rpcHandlers(waybill: Waybill, surface: Surface): RpcHandlers {
  const services = {
    jobs: jobService(waybill, surface),
    workers: workerService(surface),
    jobEvents: jobEventsService(surface),
    log: logService(surface),
    reflection: reflectionServices(SERVICES),
    health: healthService(
      waybill,
      surface,
      SERVICES.map(({ typeName }) => typeName),
    ),
  };
  const handlersFor = (grpc: boolean): Handlers => {
    const router = createConnectRouter({
      grpc,
      interceptors: [guard(surface)],
      requestGate: (context) => gate(callOf(context), context),
      readMaxBytes: surface.maxBodyBytes,
      maxTimeoutMs: LONGEST_TIMEOUT_MS,
      acceptCompression: [compressionGzip],
      // A misspelt field would else be taken for one that was left out.
      jsonOptions: { ignoreUnknownFields: false, ...RECURSION },
      binaryOptions: RECURSION,
    });
    router
      .service(JobService, services.jobs)
      .service(WorkerService, services.workers)
      .service(JobEventsService, services.jobEvents)
      .service(LogService, services.log)
      .service(health.Health, services.health, { readMaxBytes: MOST_OPEN_BYTES })
      .service(reflection.ServerReflection, services.reflection.v1)
      .service(reflectionAlpha.ServerReflection, services.reflection.alpha);
    return new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  };
  return { web: handlersFor(false), grpc: handlersFor(true) };
}
