import type {
  AilingSink,
  FailingItem,
  Health,
  MaintenanceHealth,
  Pulse,
  UnknownTypesHealth,
  Waybill,
} from '@waybill/core';
import { budgets } from './budgets.ts';
import { Calls, type CallsOptions } from './calls.ts';
import { checks } from './checks.ts';
import { deadLetters } from './dead-letters.ts';
import { events } from './events.ts';
import { jobs } from './jobs.ts';
import { keys } from './keys.ts';
import { questions } from './questions.ts';
import { crons, limits, queues, workers } from './resources.ts';
import { tenants } from './tenants.ts';
import { type RemoteWebhooks, webhooks } from './webhooks.ts';
import { workflows } from './workflows.ts';

export interface RemoteOptions extends CallsOptions {
  /** The tenant of calls that name none. @defaultValue '' */
  tenant?: string;
  /** An API key, or a token that the server takes; sent as `Authorization: Bearer`. @defaultValue none */
  key?: NonNullable<CallsOptions['key']>;
  /** Sent with every call, e.g. `X-Request-Id`. */
  headers?: NonNullable<CallsOptions['headers']>;
  /** Asked for more headers at every call, e.g. `traceparent`. It must not throw. @defaultValue none */
  callHeaders?: NonNullable<CallsOptions['callHeaders']>;
  /** @defaultValue the one of the platform */
  fetch?: NonNullable<CallsOptions['fetch']>;
  /** How long a call may take with its repetitions, beside what a claim was told to wait. @defaultValue 30_000 */
  timeoutMs?: number;
  /** Told when a stream of events has lost its server, and when it is back. @defaultValue none */
  logger?: NonNullable<CallsOptions['logger']>;
  /** Told of each call that takes longer than `afterMs`. @defaultValue none */
  slow?: NonNullable<CallsOptions['slow']>;
  /** How to wait before a repetition; for tests. @defaultValue by a timer */
  sleep?: NonNullable<CallsOptions['sleep']>;
}

/** The port, and what only a server has. */
export interface RemoteWaybill extends Waybill {
  readonly webhooks: RemoteWebhooks;
}

interface WirePulse {
  type: string;
  status: Pulse['status'];
  latency_ms: number;
  reason?: string;
}

interface WireHealth {
  status: Health['status'];
  backend: WirePulse;
  transport?: WirePulse;
  maintenance?: WireMaintenance;
  unknown_types?: WireUnknownTypes;
  webhooks?: { id: string; status: AilingSink['status']; since?: string; reason: string }[];
}

interface WireUnknownTypes {
  jobs: number;
  types: { type: string; queue: string; jobs: number; reason: string; next_try_at: string }[];
}

interface WireMaintenance extends Omit<MaintenanceHealth, 'items'> {
  items: {
    kind: FailingItem['kind'];
    id: string;
    reason: string;
    failures: number;
    since: string;
    next_try_at: string;
  }[];
}

/** A server does not say whose item fails. */
const maintenanceFromWire = ({ items, ...rest }: WireMaintenance): MaintenanceHealth => ({
  ...rest,
  items: items.map(({ since, next_try_at, ...item }) => ({
    ...{ ...item, tenant: '' },
    ...{ since: Date.parse(since), nextTryAt: Date.parse(next_try_at) },
  })),
});

const unknownTypesFromWire = ({ jobs, types }: WireUnknownTypes): UnknownTypesHealth => ({
  jobs,
  types: types.map(({ next_try_at, ...type }) => ({ ...type, nextTryAt: Date.parse(next_try_at) })),
});

const pulseFromWire = ({ type, latency_ms, ...rest }: WirePulse): Pulse => ({
  ...{ ...rest, name: type, latencyMs: latency_ms },
});

/**
 * A Waybill server, spoken to over HTTP: the same port as the embedded engine, in Node and in a browser. Calls that
 * can be repeated without doing anything twice are repeated when no answer comes. See `jobFromWire` for the columns of
 * a job that do not travel.
 */
export function remote(url: string, options: RemoteOptions = {}): RemoteWaybill {
  const calls = new Calls(url, options);
  return {
    jobs: jobs(calls),
    deadLetters: deadLetters(calls),
    queues: queues(calls),
    limits: limits(calls),
    tenants: tenants(calls),
    budgets: budgets(calls),
    crons: crons(calls),
    workflows: workflows(calls),
    workers: workers(calls),
    questions: questions(calls),
    events: events(calls),
    checks: checks(calls),
    keys: keys(calls),
    webhooks: webhooks(calls),
    health: async () => {
      // A server whose store is away says so with 503, and that is an answer.
      const health = await calls.call<WireHealth>('GET', '/ojs/v1/health', { accept: 503 });
      const { status, backend, transport, maintenance, unknown_types, webhooks: ailing } = health;
      const carried = transport && { transport: pulseFromWire(transport) };
      const kept = maintenance && { maintenance: maintenanceFromWire(maintenance) };
      const unknown = unknown_types && { unknownTypes: unknownTypesFromWire(unknown_types) };
      const sinks = ailing?.map(({ since, ...sink }) => ({
        ...{ ...sink, tenant: '', since: since === undefined ? null : Date.parse(since) },
      }));
      return { status, store: pulseFromWire(backend), ...carried, ...kept, ...unknown, ...(sinks && { sinks }) };
    },
    /** Ends streams and waiting claims, waits for calls under way. The server goes on. */
    close: () => calls.close(),
  };
}
