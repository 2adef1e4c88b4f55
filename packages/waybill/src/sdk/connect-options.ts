import {
  type Clock,
  checkHealthOptions,
  checkLogger,
  checkNames,
  checkTenant,
  type EngineOptions,
  type Logger,
  WaybillError,
} from '@waybill/core';
import { checkTaskDefaults, type TaskDefaults } from '@waybill/worker';
import { checkTelemetry, type TelemetryOption } from './telemetry-option.ts';

export interface ConnectOptions {
  /** @defaultValue stderrLogger: warnings, errors and failed runs, one line each. `silentLogger` turns that off. */
  logger?: Logger;
  /** @defaultValue systemClock */
  clock?: Clock;
  /** What carries the hints when the engine runs in this process: `poll` or `sqs://REGION/PREFIX`. @defaultValue 'poll' */
  transport?: string;
  /**
   * Where payloads go that are too large for a row, when the engine runs in this process: `file:FOLDER` or
   * `s3://BUCKET/PREFIX`, with `?threshold=BYTES`. Workers of the connection keep the files of jobs there, behind a server too.
   * All processes of one store need the same. @defaultValue nowhere
   */
  blobs?: string;
  /** Whether a DynamoDB table that does not exist is made. @defaultValue true */
  create?: boolean;
  /** The tenant of calls that name none, of workers and of waits. @defaultValue '', the tenant without a name */
  tenant?: string;
  /**
   * What jobs of tasks are enqueued with where neither task nor call says otherwise, for all queues and for single ones:
   * `{ retry: { max_attempts: 5 }, queues: { bulk: { retry: { on_exhaustion: 'discard' } } } }`.
   * @defaultValue 3 attempts, then a dead letter that is kept for 90 days
   */
  defaults?: TaskDefaults;
  /** An API key, or another token that the server takes; sent as `Authorization: Bearer`. Only for servers. @defaultValue none */
  key?: string;
  /** Sent with every call to a server, e.g. for a proxy in front of it. */
  headers?: Record<string, string>;
  /**
   * Traces and metrics by the OpenTelemetry API, of producers and workers of this connection and of an engine in this
   * process. `true` takes what is registered with the API; see docs/telemetry.md. @defaultValue false
   */
  telemetry?: TelemetryOption;
  /** How the engine behaves when it runs in this process. */
  engine?: Pick<EngineOptions, 'leaseMs' | 'maintenance' | 'sweepEveryMs' | 'retention' | 'journal' | 'health'>;
}

type EngineSettings = NonNullable<ConnectOptions['engine']>;

const OPTIONS: Readonly<Record<keyof ConnectOptions, true>> = {
  logger: true,
  clock: true,
  transport: true,
  blobs: true,
  create: true,
  tenant: true,
  defaults: true,
  key: true,
  headers: true,
  telemetry: true,
  engine: true,
};

const ENGINE: Readonly<Record<keyof EngineSettings, true>> = {
  leaseMs: true,
  maintenance: true,
  sweepEveryMs: true,
  retention: true,
  journal: true,
  health: true,
};

const RETENTION: Readonly<Record<keyof NonNullable<EngineSettings['retention']>, true>> = {
  unusedMs: true,
  finishedMs: true,
  deadMs: true,
  eventsMs: true,
  journalMs: true,
  everyMs: true,
};

/** Without a compiler nothing else reports a misspelt option. Everything is checked before anything is opened. */
export function checkOptions(options: ConnectOptions): void {
  checkNames('connect()', options, Object.keys(OPTIONS));
  checkLogger(options.logger);
  if (options.tenant !== undefined) checkTenant(options.tenant);
  checkTelemetry(options.telemetry);
  if (options.defaults !== undefined) checkTaskDefaults("The option 'defaults'", options.defaults);
  if (options.engine !== undefined) checkEngine(options.engine);
}

/** A server has a transport and an engine of its own. It opens payloads itself, but files of jobs are the worker's. */
export function checkRemoteOptions(options: ConnectOptions): void {
  const name = (['transport', 'engine'] as const).find((one) => options[one] !== undefined);
  if (name === undefined) return;
  throw new WaybillError('invalid_request', `The option '${name}' has no effect with the address of a server.`, {
    hint: 'Set it where the server runs, or connect to the store itself.',
  });
}

/** Whoever opens a store may do everything there: a key would look as if it narrowed that. */
export function checkStoreOptions({ key }: ConnectOptions): void {
  if (key === undefined) return;
  throw new WaybillError('invalid_request', "The option 'key' has no effect with the address of a store.", {
    hint: 'Leave it out, or connect to a server such as https://jobs.example.com.',
  });
}

/** As the engine checks them, but before the store is opened. */
function checkEngine(engine: EngineSettings): void {
  checkNames("The option 'engine'", engine, Object.keys(ENGINE));
  const { retention = {}, journal = {}, health, maintenance, ...lengths } = engine;
  if (health !== undefined) checkHealthOptions(health);
  checkNames("The option 'engine.retention'", retention, Object.keys(RETENTION));
  checkPositive(lengths, '');
  checkNames("The option 'engine.journal'", journal, ['maxBytes']);
  checkPositive(retention, 'retention.');
  checkPositive(journal, 'journal.');
  if (!('maintenance' in engine) || typeof maintenance === 'boolean') return;
  const given = String(maintenance);
  throw new WaybillError('invalid_request', `The option 'maintenance' must be true or false, not ${given}.`);
}

function checkPositive(lengths: object, prefix: string): void {
  const bad = Object.entries(lengths).find(([, value]) => !(Number.isFinite(value) && value > 0));
  if (bad === undefined) return;
  const [name, value] = bad;
  throw new WaybillError('invalid_request', `The option '${prefix}${name}' must be a number above 0, not ${value}.`);
}
