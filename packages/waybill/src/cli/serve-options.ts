import { WaybillError } from '@waybill/core';
import type { AlertOptions } from '@waybill/server';
import { alertsIn } from '../config/alerts-in.ts';
import type { ConfigOptions } from '../config/config-options.ts';
import type { AwsParts } from '../connect/aws-parts.ts';
import type { EventBusChoice } from '../connect/open-event-bus.ts';
import { shownWord } from '../connect/shown-address.ts';
import type { Options, Values } from './command.ts';
import { blobsIn, type Context, transportIn } from './context.ts';
import { EDGE_OPTIONS, type EdgeFlags, listIn, readEdgeOptions } from './edge-options.ts';
import { readTargets, type Targets } from './open-webhooks.ts';

export interface ServeOptions extends EdgeFlags {
  store: string;
  host: string;
  port: number;
  /** Whether the port was named by the user; `dev` may take another one if not. */
  portGiven: boolean;
  /** Port for gRPC. Undefined: none. */
  grpcPort?: number;
  /** Ask nobody for a key, beyond loopback too. */
  noAuth: boolean;
  /** Names that a request may give as its `Host`, besides those of loopback. */
  allowedHosts: string[];
  /** Undefined: the default of the server. */
  maxConnections?: number;
  requireLease: boolean;
  /** Whether a job's `options.metadata.test_directive` steers its worker. @defaultValue false */
  testDirectives?: boolean;
  /** Where webhooks may go, besides the internet. */
  webhookTargets?: Targets;
  transport: string;
  /** Where large payloads go; undefined: nowhere. */
  blobs: string | undefined;
  /** Where events go. Undefined: nowhere. */
  eventBus?: EventBusChoice;
  /** Of the configuration file; a server makes rounds of health checks unless it says otherwise. */
  engine?: ConfigOptions['engine'] & {};
  /** Who is told of incidents. @defaultValue nobody */
  alerts?: AlertOptions;
  /** Of the configuration file. */
  aws?: AwsParts;
}

const DEFAULT_PORT = 8080;
const DEFAULT_APP = 'waybill';

/** For whoever runs an engine. */
export const TRANSPORT = {
  value: 'URL',
  about: 'what carries hints: poll or sqs://REGION/PREFIX',
  default: 'WAYBILL_TRANSPORT, poll',
} as const;

export const BLOBS = {
  value: 'URL',
  about: 'where large payloads go: file:FOLDER or s3://BUCKET/PREFIX',
  default: 'WAYBILL_BLOBS, nowhere',
} as const;

export const SERVE_OPTIONS = {
  host: { value: 'ADDRESS', about: 'address to listen on', default: 'WAYBILL_HOST, 127.0.0.1' },
  port: { value: 'N', about: 'port to listen on; 0 takes any free one', default: `WAYBILL_PORT, ${DEFAULT_PORT}` },
  'grpc-port': { value: 'N', about: 'port for gRPC; 0 takes any free one', default: 'WAYBILL_GRPC_PORT, none' },
  ...EDGE_OPTIONS,
  'allow-host': {
    value: 'NAME',
    several: true,
    about: 'accept this Host besides localhost; may be repeated',
    default: 'WAYBILL_ALLOWED_HOSTS, none',
  },
  'max-connections': {
    value: 'N',
    about: 'connections at the same time; beyond them idle ones go',
    default: 'WAYBILL_MAX_CONNECTIONS, 10000',
  },
  transport: TRANSPORT,
  blobs: BLOBS,
  'event-bus': {
    value: 'NAME',
    about: 'send what happens to this bus of EventBridge',
    default: 'WAYBILL_EVENT_BUS, none',
  },
  'event-app': {
    value: 'APP',
    about: 'the application that these events are of',
    default: `WAYBILL_EVENT_APP, ${DEFAULT_APP}`,
  },
  metrics: { about: 'show metrics at /metrics, for Prometheus', default: 'WAYBILL_METRICS' },
  'require-lease': { about: 'refuse to settle or speak for a run without its lease token' },
  'test-directives': { about: 'let jobs steer their workers, for conformance suites; on loopback only' },
  'webhook-target': {
    value: 'RANGE',
    several: true,
    about: 'let webhooks go to this private range, over plain http too; may be repeated',
    default: 'WAYBILL_WEBHOOK_TARGETS, none',
  },
  'allow-private-webhooks': { about: 'let webhooks go to private ranges and over plain http' },
  store: {
    value: 'URL',
    about: 'sqlite:FILE, postgres://.. or dynamodb://REGION/TABLE',
    default: 'WAYBILL_STORE, sqlite:./waybill.db',
  },
} as const satisfies Options;

/** Flags beat the environment, which beats the defaults. */
export function readServeOptions(
  values: Values<typeof SERVE_OPTIONS>,
  { namedStore, config, io }: Context,
  defaults: { store: string },
): ServeOptions {
  const { env } = io;
  const port = values.port ?? env['WAYBILL_PORT'];
  const grpcPort = values['grpc-port'] ?? env['WAYBILL_GRPC_PORT'];
  const connections = values['max-connections'] ?? env['WAYBILL_MAX_CONNECTIONS'];
  const { engine, sqs, dynamodb, eventBus } = config?.options ?? {};
  const bus = values['event-bus'] ?? env['WAYBILL_EVENT_BUS'];
  const app = values['event-app'] ?? env['WAYBILL_EVENT_APP'] ?? DEFAULT_APP;
  return {
    ...(bus !== undefined && { eventBus: { ...eventBus, bus, app } }),
    engine: { ...engine, health: engine?.health ?? {} },
    alerts: alertsIn(config?.options.alerts, env),
    aws: { ...(sqs && { sqs }), ...(dynamodb && { dynamodb }) },
    store: namedStore ?? defaults.store,
    host: values.host ?? env['WAYBILL_HOST'] ?? '127.0.0.1',
    port: port === undefined ? DEFAULT_PORT : readPort(port),
    portGiven: port !== undefined,
    ...(grpcPort !== undefined && { grpcPort: readPort(grpcPort) }),
    ...readEdgeOptions(values, env),
    noAuth: values['no-auth'] ?? false,
    allowedHosts: listIn(values['allow-host']?.join(',') ?? env['WAYBILL_ALLOWED_HOSTS'] ?? ''),
    ...(connections !== undefined && { maxConnections: readConnections(connections) }),
    requireLease: values['require-lease'] ?? false,
    testDirectives: values['test-directives'] ?? false,
    webhookTargets: readTargets(values, env),
    transport: values.transport ?? transportIn(env),
    blobs: values.blobs ?? blobsIn(env),
  };
}

function readConnections(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= 1_000_000) return count;
  const message = `The number of connections must be from 1 to 1000000, not '${shownWord(text)}'.`;
  throw new WaybillError('invalid_request', message);
}

export function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new WaybillError('invalid_request', `The port must be a number from 0 to 65535, not '${shownWord(text)}'.`);
}
