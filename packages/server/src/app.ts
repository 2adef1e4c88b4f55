import { type Clock, checkNames, type Logger, stderrLogger, systemClock, type Waybill } from '@waybill/core';
import { Hono } from 'hono';
import type { App, Env } from './http/env.ts';
import { errorRoutes } from './http/error-page.ts';
import { onError, onlyErrors, onUnknown } from './http/errors.ts';
import { refuseForeignPages } from './http/foreign-pages.ts';
import { standardHeaders } from './http/headers.ts';
import { anybody, givePort, type Identify } from './http/port.ts';
import { cronRoutes } from './ojs/cron.ts';
import { deadLetterRoutes } from './ojs/dead-letter.ts';
import { eventRoutes } from './ojs/events.ts';
import { jobRoutes } from './ojs/jobs.ts';
import { progressRoutes } from './ojs/progress.ts';
import { queueRoutes } from './ojs/queues.ts';
import { rateLimitRoutes } from './ojs/rate-limits.ts';
import { systemRoutes } from './ojs/system.ts';
import { workerRoutes } from './ojs/workers.ts';
import { workflowRoutes } from './ojs/workflows.ts';
import { RECORD_KINDS } from './records/kinds.ts';
import { recordRoutes } from './records/record-routes.ts';

export interface AppOptions {
  waybill: Waybill;
  /**
   * Who sends a request.
   * @defaultValue anybody, with all scopes, for the tenant that the header `X-OJS-Tenant` names
   */
  principal?: Identify;
  /** Of the implementation, as the manifest and the health answers tell it. */
  version: string;
  /** @defaultValue stderrLogger */
  logger?: Logger;
  /** The one that the engine goes by. @defaultValue the clock of this machine */
  clock?: Clock;
  /** @defaultValue 1 MiB */
  maxBodyBytes?: number;
  /** Refuse ack and nack without a lease token. @defaultValue false */
  requireLease?: boolean;
  /** Let a job's `options.metadata.test_directive` steer its worker. Never beyond loopback. @defaultValue false */
  testDirectives?: boolean;
  /** Pause between two signs of life on an idle event stream. @defaultValue 15_000 */
  streamHeartbeatMs?: number;
}

const DEFAULTS = {
  principal: anybody,
  logger: stderrLogger,
  clock: systemClock,
  maxBodyBytes: 1024 * 1024,
  requireLease: false,
  testDirectives: false,
  streamHeartbeatMs: 15_000,
} satisfies Partial<AppOptions>;

const OPTIONS: Record<keyof AppOptions, true> = {
  ...{ waybill: true, principal: true, version: true, logger: true, clock: true, maxBodyBytes: true },
  ...{ requireLease: true, testDirectives: true, streamHeartbeatMs: true },
};

/** The Open Job Spec over HTTP. Runs wherever Hono runs; `serve` puts it on a port. */
export function createApp(options: AppOptions): App {
  // A misspelt `principal` would let everybody in.
  checkNames('createApp()', options, Object.keys(OPTIONS));
  const { waybill, principal, ...surface } = { ...DEFAULTS, ...options };
  const app = new Hono<Env>();
  app.onError(onError(surface.logger));
  app.use(onlyErrors());
  app.use(standardHeaders());
  app.use(refuseForeignPages());
  // Before the port: whether this server is well may be asked by anybody.
  systemRoutes(app, waybill, { ...surface, namesItems: principal === anybody });
  errorRoutes(app);
  app.use(givePort(waybill, principal));
  jobRoutes(app, surface);
  progressRoutes(app, surface);
  workerRoutes(app, surface);
  deadLetterRoutes(app, surface);
  cronRoutes(app, surface);
  workflowRoutes(app, surface);
  queueRoutes(app, surface);
  rateLimitRoutes(app, surface);
  eventRoutes(app, surface);
  for (const kind of RECORD_KINDS) recordRoutes(app, surface, kind);
  app.notFound(onUnknown(app));
  return app;
}
