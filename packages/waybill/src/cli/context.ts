import { type Clock, systemClock, type Waybill } from '@waybill/core';
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

/** What a command works with, made for one call of it. */
export class Context {
  readonly io: Io;
  readonly isJson: boolean;
  readonly style: Style;
  /** The address that was named, by flag or environment. */
  readonly namedStore: string | undefined;
  /** Undefined: the one without a name. */
  readonly tenant: string | undefined;
  #waybill: Promise<Waybill> | undefined;
  #isSlow = false;

  constructor(io: Io, values: { store?: string; tenant?: string; json?: boolean }) {
    this.io = io;
    this.isJson = values.json ?? false;
    this.style = styleFor(io);
    this.namedStore = values.store ?? (io.env['WAYBILL_STORE'] || undefined);
    this.tenant = values.tenant ?? (io.env['WAYBILL_TENANT'] || undefined);
  }

  /** Of the terminal; endless elsewhere, since nobody looks at a pipe. A terminal that does not know is taken for 80. */
  get width(): number {
    const columns = this.io.columns();
    return columns === undefined ? Number.POSITIVE_INFINITY : Math.max(columns || 80, LEAST_WIDTH);
  }

  get store(): string {
    return this.namedStore ?? DEFAULT_STORE;
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
  }: Partial<Omit<Opening, 'clock' | 'tenant' | 'onSlow'>> = {}): Promise<Waybill> {
    const { clock, tenant } = this;
    // A command that logs has a log to tell of its server.
    const onSlow = logger === undefined ? () => this.#tellSlow() : undefined;
    const opening = { clock, tenant, create, maintenance, transport, blobs, logger, onSlow };
    this.#waybill ??= openWaybill(this.store, opening);
    return this.#waybill;
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

  async close(): Promise<void> {
    const waybill = await this.#waybill?.catch(() => undefined);
    await waybill?.close();
  }
}
