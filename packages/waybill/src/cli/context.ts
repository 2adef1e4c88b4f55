import { ALL_TENANTS, type Clock, systemClock, type Waybill, WaybillError } from '@waybill/core';
import type { Preset } from '../agent-consumer/preset.ts';
import type { Config } from '../config/load-config.ts';
import type { AwsParts } from '../connect/aws-parts.ts';
import { isRemote } from '../connect/parse-address.ts';
import { shownAddress } from '../connect/shown-address.ts';
import type { Io } from './io.ts';
import { type Opening, openWaybill } from './open-waybill.ts';
import { type Style, styleFor } from './style.ts';
import { linesWithin } from './text-width.ts';

const DEFAULT_STORE = 'sqlite:./waybill.db';

export const transportIn = (env: Io['env']): string => env['WAYBILL_TRANSPORT'] || 'poll';

export const blobsIn = (env: Io['env']): string | undefined => env['WAYBILL_BLOBS'] || undefined;

/** Below this nothing could be laid out; such a terminal breaks the lines itself. */
const LEAST_WIDTH = 40;

/** Options that most commands have. */
export interface ContextValues {
  store?: string;
  tenant?: string;
  key?: string;
  json?: boolean;
}

interface Connecting extends Partial<Omit<Opening, 'clock' | 'tenant' | 'key' | 'onSlow' | 'engine' | 'aws'>> {
  /** Whether the command can also mean all tenants. @defaultValue false */
  mayMeanAll?: boolean;
  /** Beats the configuration file. */
  sqs?: AwsParts['sqs'];
}

/** What stands behind flags and environment. */
interface Behind {
  config?: Config | undefined;
  preset?: Preset | undefined;
}

/** What a command works with, made for one call of it. */
export class Context {
  readonly io: Io;
  readonly isJson: boolean;
  readonly style: Style;
  /** The address that was named, by flag or environment. */
  readonly namedStore: string | undefined;
  /** Undefined: the one without a name. */
  readonly tenant: string | undefined;
  /** The API key for a server, by flag or environment. */
  readonly key: string | undefined;
  /** Of the commands that read a file, where there is one. */
  readonly config: Config | undefined;
  readonly preset: Preset | undefined;
  readonly #isKeyGiven: boolean;
  #waybill: Promise<Waybill> | undefined;
  #isSlow = false;

  constructor(io: Io, values: ContextValues, { config, preset }: Behind = {}) {
    this.io = io;
    this.config = config;
    this.preset = preset;
    this.isJson = values.json ?? false;
    this.style = styleFor(io);
    this.namedStore = values.store ?? (io.env['WAYBILL_STORE'] || undefined);
    this.tenant = values.tenant ?? (io.env['WAYBILL_TENANT'] || undefined);
    this.key = values.key ?? (io.env['WAYBILL_KEY'] || undefined);
    this.#isKeyGiven = values.key !== undefined;
  }

  /** Of the terminal; endless elsewhere, since nobody looks at a pipe. A terminal that does not know is taken for 80. */
  get width(): number {
    const columns = this.io.columns();
    return columns === undefined ? Number.POSITIVE_INFINITY : Math.max(columns || 80, LEAST_WIDTH);
  }

  get store(): string {
    return this.namedStore ?? DEFAULT_STORE;
  }

  /** What no connection can be about: a call that may mean all tenants has to name them itself. */
  get isAllTenants(): boolean {
    return this.tenant === ALL_TENANTS;
  }

  get clock(): Clock {
    return { ...systemClock, now: this.io.now };
  }

  /** Opened once, and closed when the command has ended. */
  connect({
    create = false,
    maintenance = false,
    transport = transportIn(this.io.env),
    blobs = blobsIn(this.io.env),
    logger,
    telemetry,
    mayMeanAll = false,
    sqs: own,
  }: Connecting = {}): Promise<Waybill> {
    const { clock } = this;
    const tenant = mayMeanAll && this.isAllTenants ? undefined : this.tenant;
    // A command that logs has a log to tell of its server.
    const onSlow = logger === undefined ? () => this.#tellSlow() : undefined;
    const { engine: settings, sqs, dynamodb } = this.config?.options ?? {};
    const retention = { ...this.preset?.engine.retention, ...settings?.retention };
    const engine = {
      ...settings,
      ...(Object.keys(retention).length > 0 && { retention }),
      // Whoever does maintenance takes part in the rounds of health checks.
      ...(maintenance && { health: settings?.health ?? {} }),
    };
    const opening = {
      ...{ engine, aws: { sqs: { ...sqs, ...own }, ...(dynamodb && { dynamodb }) } },
      ...{ clock, tenant, key: this.#keyToSend(), create, maintenance, transport, blobs, logger, telemetry, onSlow },
    };
    this.#waybill ??= openWaybill(this.store, opening);
    return this.#waybill;
  }

  /** The environment may name the key of a server for all commands; given by hand, it is meant for this one. */
  #keyToSend(): string | undefined {
    if (isRemote(this.store)) return this.key;
    if (!this.#isKeyGiven) return undefined;
    const message = `--key has no effect with the store ${shownAddress(this.store)}: whoever opens a store needs no key.`;
    throw new WaybillError('invalid_request', message, { hint: 'Leave it out, or name a server with --store.' });
  }

  #tellSlow(): void {
    if (this.#isSlow) return;
    this.#isSlow = true;
    this.io.stderr.write(`waybill: waiting for ${shownAddress(this.store)}\n`);
  }

  /** The one document of this call, or its text for people. Lines that are too wide for them go on in the next one. */
  show(document: unknown, text: () => string): void {
    if (this.isJson) this.io.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    else this.io.stdout.write(linesWithin(text(), this.width));
  }

  /** A line beside the output of the command: stdout stays what was asked for. */
  tell(text: string): void {
    this.io.stderr.write(linesWithin(`waybill: ${text}\n`, this.width));
  }

  async close(): Promise<void> {
    const waybill = await this.#waybill?.catch(() => undefined);
    await waybill?.close();
  }
}
