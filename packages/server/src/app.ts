import {
  type Clock,
  checkNames,
  invalidField,
  type Logger,
  stderrLogger,
  systemClock,
  type Waybill,
} from '@waybill/core';
import { Hono } from 'hono';
import { auditRoutes } from './audit/audit-routes.ts';
import { Auditor } from './audit/auditor.ts';
import { authenticate } from './auth/authenticate.ts';
import { Identifier } from './auth/identify.ts';
import { type LeaseTokenOptions, signedPort } from './auth/lease-tokens.ts';
import { OpenRequests } from './auth/open-requests.ts';
import { type AuthOptions, checkAuth } from './auth/options.ts';
import { RequestLimits } from './auth/request-limits.ts';
import { loginRoute, sessionRoutes } from './auth/session-routes.ts';
import { budgetRoutes } from './budgets/budget-routes.ts';
import { checkRoutes } from './health/check-routes.ts';
import { accessLog } from './http/access-log.ts';
import { allowOrigins, type CorsOptions } from './http/cors.ts';
import type { App, Env } from './http/env.ts';
import { errorRoutes } from './http/error-page.ts';
import { onError, onlyErrors, onUnknown } from './http/errors.ts';
import { refuseForeignPages } from './http/foreign-pages.ts';
import { standardHeaders } from './http/headers.ts';
import { type MetricsText, metricsRoute } from './http/metrics-route.ts';
import { observeRequests, type RequestObserver } from './http/observe-request.ts';
import { givePort, type Identify } from './http/port.ts';
import { keyRoutes } from './keys/key-routes.ts';
import { cronRoutes } from './ojs/cron.ts';
import { deadLetterRoutes } from './ojs/dead-letter.ts';
import { eventRoutes } from './ojs/events.ts';
import { jobRoutes } from './ojs/jobs.ts';
import { journalRoutes } from './ojs/journal.ts';
import { progressRoutes } from './ojs/progress.ts';
import { queueRoutes } from './ojs/queues.ts';
import { rateLimitRoutes } from './ojs/rate-limits.ts';
import { spendRoute } from './ojs/spend.ts';
import { openRoutes, systemRoutes } from './ojs/system.ts';
import { workerRoutes } from './ojs/workers.ts';
import { workflowRoutes } from './ojs/workflows.ts';
import { questionRoutes } from './questions/question-routes.ts';
import { RECORD_KINDS } from './records/kinds.ts';
import { recordRoutes } from './records/record-routes.ts';
import { RpcRoutes } from './rpc/routes.ts';
import { guardedStreams, type StreamObserver } from './stream/observer.ts';
import { tenantRoutes } from './tenants/tenant-routes.ts';
import type { WebhookService } from './webhooks/service.ts';
import { webhookRoutes } from './webhooks/webhook-routes.ts';

export interface AppOptions {
  waybill: Waybill;
  /**
   * How callers show who they are, or a function of your own that says who sends a request.
   * @defaultValue anybody may call, with all scopes, for the tenant that the header `X-OJS-Tenant` names
   */
  auth?: Identify | AuthOptions;
  /** Which pages of other origins may call. @defaultValue none */
  cors?: CorsOptions;
  /** Requests in a minute of each caller that has no limit of its own. Needs `auth`. @defaultValue any number */
  requestsPerMinute?: number;
  /**
   * Requests of one caller that may be under way at the same time; a long poll and a stream count for as long as they last.
   * Needs `auth`.
   * @defaultValue half of the connections of the server
   */
  openRequests?: number;
  /** Of the implementation, as the manifest and the health answers tell it. */
  version: string;
  /** @defaultValue stderrLogger */
  logger?: Logger;
  /** The one that the engine goes by. @defaultValue the clock of this machine */
  clock?: Clock;
  /** @defaultValue 1 MiB */
  maxBodyBytes?: number;
  /**
   * For how long `DequeueJobs` and `UpdateJobVisibility` hold a job where the call names no time; what the engine has as `leaseMs`.
   * @defaultValue 300_000
   */
  visibilityMs?: number;
  /** Refuse ack, nack and appends to journals without a lease token. @defaultValue false */
  requireLease?: boolean;
  /**
   * Sign the lease tokens of claims, so that a worker can neither make nor change one.
   * @defaultValue true where callers show who they are
   */
  leaseTokens?: LeaseTokenOptions | boolean;
  /** Let a job's `options.metadata.test_directive` steer its worker. Never beyond loopback. @defaultValue false */
  testDirectives?: boolean;
  /** Pause between two signs of life on an idle event stream. @defaultValue 15_000 */
  streamHeartbeatMs?: number;
  /**
   * How long a reader that follows a journal may take nothing of what was sent to it. It is cut off then, and may resume.
   * @defaultValue 30_000
   */
  slowReaderMs?: number;
  /** Told of streams that begin, end and are cut off, for metrics. @defaultValue none */
  observeStreams?: StreamObserver;
  /** Stands around every request, for traces and metrics. @defaultValue none */
  observeRequest?: RequestObserver;
  /** What `GET /metrics` answers to callers with the scope `metrics`. @defaultValue none, and the route answers 404 */
  metrics?: MetricsText;
  /** Log each request at the level debug. @defaultValue false */
  accessLog?: boolean;
  /** Delivers to webhooks; whoever makes it starts and stops it. @defaultValue webhooks are kept, and none is sent */
  webhooks?: WebhookService;
}

const DEFAULTS = {
  logger: stderrLogger,
  clock: systemClock,
  maxBodyBytes: 1024 * 1024,
  visibilityMs: 300_000,
  requireLease: false,
  testDirectives: false,
  streamHeartbeatMs: 15_000,
  slowReaderMs: 30_000,
} satisfies Partial<AppOptions>;

const OPTIONS: Record<keyof AppOptions, true> = {
  ...{ waybill: true, auth: true, cors: true, requestsPerMinute: true, openRequests: true, version: true },
  ...{ logger: true, clock: true },
  ...{
    maxBodyBytes: true,
    visibilityMs: true,
    requireLease: true,
    testDirectives: true,
    streamHeartbeatMs: true,
    observeRequest: true,
  },
  ...{ metrics: true, accessLog: true, webhooks: true, leaseTokens: true, slowReaderMs: true, observeStreams: true },
};

const guarded = new WeakSet<object>();

/** Whether the callers of an app must say who they are. */
export const asksWho = (app: App): boolean => guarded.has(app);

/** The Open Job Spec over HTTP. Runs wherever Hono runs; `serve` puts it on a port. */
export function createApp(options: AppOptions): App {
  // A misspelt `auth` would let everybody in.
  checkNames('createApp()', options, Object.keys(OPTIONS));
  const {
    waybill,
    auth,
    cors,
    requestsPerMinute,
    openRequests,
    observeRequest,
    observeStreams,
    leaseTokens,
    ...given
  } = { ...DEFAULTS, ...options };
  const streamObserver = observeStreams && guardedStreams(observeStreams, given.logger);
  const surface = { ...given, ...(streamObserver && { streamObserver }) };
  const { clock, logger } = surface;
  const checked = auth === undefined ? undefined : checkAuth(auth, waybill);
  const identifier = checked && new Identifier({ waybill, auth: checked, clock, logger });
  for (const [name, value] of Object.entries({ requestsPerMinute, openRequests }))
    if (value !== undefined && !identifier)
      throw invalidField(name, 'needs auth: requests are counted for each caller.');
  const limits = new RequestLimits(requestsPerMinute, clock);
  const auditor = new Auditor(waybill, logger);
  const sessions = { identifier, limits, sessionMs: checked?.sessionMs ?? 0, clock, auditor };
  const rpc = new RpcRoutes(waybill, surface);
  const app = new Hono<Env>();
  app.onError(onError(surface.logger));
  if (observeRequest) app.use(observeRequests(observeRequest));
  if (options.accessLog) app.use(accessLog(surface.logger, surface.clock));
  app.use(onlyErrors());
  app.use(rpc.recognize());
  app.use(standardHeaders());
  if (cors) app.use(allowOrigins(cors, identifier !== undefined));
  app.use(refuseForeignPages());
  // All that a caller without a key can reach stands here, before the next line.
  openRoutes(app, waybill, { ...surface, asksWho: identifier !== undefined });
  rpc.open(app);
  loginRoute(app, sessions);
  if (identifier) {
    app.use(authenticate(identifier, { limits, open: new OpenRequests(openRequests), clock }));
    guarded.add(app);
  }
  // Not about a tenant.
  systemRoutes(app, waybill, surface);
  errorRoutes(app);
  sessionRoutes(app, sessions);
  app.use(givePort(signedPort(waybill, leaseTokens, { asksWho: identifier !== undefined, clock }), auditor));
  rpc.routes(app);
  metricsRoute(app, options.metrics);
  jobRoutes(app, surface);
  progressRoutes(app, surface);
  journalRoutes(app, surface);
  spendRoute(app, surface);
  workerRoutes(app, surface);
  questionRoutes(app, surface);
  deadLetterRoutes(app, surface);
  cronRoutes(app, surface);
  workflowRoutes(app, surface);
  queueRoutes(app, surface);
  rateLimitRoutes(app, surface);
  eventRoutes(app, surface);
  checkRoutes(app, identifier === undefined ? waybill : undefined);
  keyRoutes(app, surface);
  tenantRoutes(app, surface, identifier === undefined ? waybill : undefined);
  budgetRoutes(app, surface, identifier === undefined ? waybill : undefined);
  auditRoutes(app);
  for (const kind of RECORD_KINDS) recordRoutes(app, surface, kind);
  webhookRoutes(app, surface);
  app.notFound(onUnknown(app));
  return app;
}
