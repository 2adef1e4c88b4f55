import { existsSync } from 'node:fs';
import { type Clock, type Logger, systemClock, type Waybill, WaybillError } from '@waybill/core';
import type { Instrumentation } from '@waybill/telemetry';
import type { ConfigOptions } from '../config/config-options.ts';
import type { AwsParts } from '../connect/aws-parts.ts';
import { fileOf, parseAddress } from '../connect/parse-address.ts';
import { shownAddress } from '../connect/shown-address.ts';
import { open } from '../sdk/open.ts';

export interface Opening {
  clock: Clock;
  tenant: string | undefined;
  /** For a server. */
  key: string | undefined;
  /** Whether a file that does not exist is made. Where it is only asked about, making it would hide a mistyped path. */
  create: boolean;
  /** Whether this process also does upkeep; a command that ends at once leaves it to the servers. */
  maintenance: boolean;
  transport: string;
  blobs: string | undefined;
  /** Of the configuration file. */
  engine?: ConfigOptions['engine'] | undefined;
  /** Of the configuration file. */
  aws?: AwsParts;
  /** @defaultValue stderrLogger */
  logger?: Logger | undefined;
  /** @defaultValue none */
  telemetry?: Instrumentation | undefined;
  /** Told of a call to a server that takes long. */
  onSlow?: (() => void) | undefined;
}

/** Whoever waits for an answer wants to know by then that something goes on. */
const SLOW_MS = 2_000;

/** A server over HTTP or gRPC, or the engine itself on a store. */
export async function openWaybill(
  address: string,
  { clock, tenant, key, create, maintenance, transport, blobs, logger, telemetry, onSlow, engine, aws = {} }: Opening,
): Promise<Waybill> {
  const parsed = parseAddress(address);
  // The machine's own clock is not passed on, so that a store with a server goes by the server's time.
  const ordered = clock.now === systemClock.now ? {} : { clock };
  const common = {
    ...{ ...ordered, ...(tenant !== undefined && { tenant }), ...(logger !== undefined && { logger }) },
    ...(telemetry && { telemetry }),
  };
  // The environment may name a transport and blobs for the servers of this machine; a remote server has its own.
  if (parsed.kind === 'remote') {
    const sender = key === undefined ? {} : { key };
    const slow = onSlow && { afterMs: SLOW_MS, tell: onSlow };
    return open(address, { ...common, ...sender }, { ...(slow && { slow }) });
  }
  const file = fileOf(parsed);
  if (!create && file !== null && !existsSync(file)) {
    throw new WaybillError('not_found', `There is no store ${shownAddress(address)}.`, {
      hint: 'Name it with --store or WAYBILL_STORE; `waybill migrate` makes a new one.',
    });
  }
  const parts = {
    ...{ ...common, create, transport, engine: { ...engine, maintenance } },
    ...(blobs !== undefined && { blobs }),
  };
  return open(address, parts, { aws });
}
