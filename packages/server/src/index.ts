// What users of the server need.

export type { AlertOptions, SlackOptions } from './alerts/alert-options.ts';
export { checkAlerts } from './alerts/alert-options.ts';
export {
  type AlertService,
  type AlertServiceOptions,
  alertService,
  type FiredAlert,
  type TestFireOptions,
  testFire,
} from './alerts/alert-service.ts';
export { type AppOptions, asksWho, createApp, createTasksApp } from './app.ts';
export type { KeyLookup } from './auth/identified.ts';
export type { JwtOptions } from './auth/jwt-options.ts';
export type { LeaseTokenOptions } from './auth/lease-tokens.ts';
export type { AuthOptions } from './auth/options.ts';
export { checkEdge, type EdgeOptions } from './check-edge.ts';
export type { CorsOptions } from './http/cors.ts';
export { isLoopback } from './http/hosts.ts';
export type { ObservedAnswer, ObservedRequest, RequestObserver } from './http/observe-request.ts';
export type { Asking, Identify } from './http/port.ts';
export type { ObservedRpc } from './http/rpc-request.ts';
export type { TlsOptions } from './http/tls-files.ts';
export { type GivenKeys, givenKeys, type KeySource } from './keys/given-keys.ts';
export { RECORD_EVENT_TYPES } from './records/kinds.ts';
export { checkPort, type Listening, type ListenOptions, serve } from './serve.ts';
export type { StreamKind, StreamObserver } from './stream/observer.ts';
export {
  type RedeliverFrom,
  type TestAnswer,
  WEBHOOK_STATE_EVENTS,
  type WebhookService,
  type WebhookValue,
} from './webhooks/service.ts';
export { type WebhookServiceOptions, webhookService } from './webhooks/webhook-service.ts';

// What those need who add routes of their own to it.

export type { App, Bindings, Env } from './http/env.ts';
