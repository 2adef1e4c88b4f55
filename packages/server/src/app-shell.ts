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
import { Auditor } from './audit/auditor.ts';
import { authenticate } from './auth/authenticate.ts';
import { Identifier } from './auth/identify.ts';
import { type LeaseTokenOptions, signedPort } from './auth/lease-tokens.ts';
import { OpenRequests } from './auth/open-requests.ts';
import { type AuthOptions, checkAuth } from './auth/options.ts';
import { RequestLimits } from './auth/request-limits.ts';
import { accessLog } from './http/access-log.ts';
import { allowOrigins, type CorsOptions } from './http/cors.ts';
import type { App, Env } from './http/env.ts';
import { onError, onlyErrors, onUnknown } from './http/errors.ts';
import { refuseForeignPages } from './http/foreign-pages.ts';
import { standardHeaders } from './http/headers.ts';
import type { MetricsText } from './http/metrics-route.ts';
import { observeRequests, type RequestObserver } from './http/observe-request.ts';
import { givePort, type Identify } from './http/port.ts';
import { guardedStreams, type StreamObserver } from './stream/observer.ts';
import type { Surface } from './surface.ts';
import type { WebhookService } from './webhooks/service.ts';

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
  ...{
    waybill: true,
    auth: true,
    cors: true,
    requestsPerMinute: true,
    openRequests: true,
    version: true,
    logger: true,
    clock: true,
  },
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

/** What the parts of an app are made with. */
export interface AppParts {
  app: App;
  waybill: Waybill;
  surface: Surface;
  /** Undefined: nobody is asked who they are. */
  identifier: Identifier | undefined;
  limits: RequestLimits;
  sessionMs: number;
  auditor: Auditor;
}

/** The routes of an app, by who can reach them. */
export interface AppRoutes {
  /** First of all requests. */
  first?(parts: AppParts): void;
  /** Without a key. */
  open(parts: AppParts): void;
  /** With a key, and not about a tenant. */
  known?(parts: AppParts): void;
  /** All others. */
  routes(parts: AppParts): void;
  /** Where the interface begins, for whoever asks for what is not there. */
  hint: string;
}

/** What stands around the routes of every app: who may call, how often, from where, and what an error looks like. */
export function appOf(call: string, options: AppOptions, { first, open, known, routes, hint }: AppRoutes): App {
  // A misspelt `auth` would let everybody in.
  checkNames(call, options, Object.keys(OPTIONS));
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
  } = {
    ...DEFAULTS,
    ...options,
  };
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
  const app = new Hono<Env>();
  const parts = { app, waybill, surface, identifier, limits, sessionMs: checked?.sessionMs ?? 0, auditor };
  app.onError(onError(logger));
  if (observeRequest) app.use(observeRequests(observeRequest));
  if (options.accessLog) app.use(accessLog(logger, clock));
  app.use(onlyErrors());
  first?.(parts);
  app.use(standardHeaders());
  if (cors) app.use(allowOrigins(cors, identifier !== undefined));
  app.use(refuseForeignPages());
  open(parts);
  if (identifier) {
    app.use(authenticate(identifier, { limits, open: new OpenRequests(openRequests), clock }));
    guarded.add(app);
  }
  known?.(parts);
  app.use(givePort(signedPort(waybill, leaseTokens, { asksWho: identifier !== undefined, clock }), auditor));
  routes(parts);
  app.notFound(onUnknown(app, hint));
  return app;
}
