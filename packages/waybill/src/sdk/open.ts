import {
  type Clock,
  checkNodeVersion,
  didYouMean,
  type EngineOptions,
  engine,
  type Logger,
  type Store,
  type Waybill,
  WaybillError,
} from '@waybill/core';
import { openBlobs } from '../connect/open-blobs.ts';
import { openStore } from '../connect/open-store.ts';
import { readTransport } from '../connect/open-transport.ts';
import { parseAddress } from '../connect/parse-address.ts';

export interface ConnectOptions {
  /** @defaultValue stderrLogger: warnings, errors and failed runs, one line each. `silentLogger` turns that off. */
  logger?: Logger;
  /** @defaultValue systemClock */
  clock?: Clock;
  /** What carries the hints when the engine runs in this process: `poll` or `sqs://REGION/PREFIX`. @defaultValue 'poll' */
  transport?: string;
  /**
   * Where payloads go that are too large for a row, when the engine runs in this process: `file:FOLDER` or
   * `s3://BUCKET/PREFIX`, with `?threshold=BYTES`. All processes of one store need the same. @defaultValue nowhere
   */
  blobs?: string;
  /** Whether a DynamoDB table that does not exist is made. @defaultValue true */
  create?: boolean;
  /** Sent with every call to a server, e.g. `Authorization`. */
  headers?: Record<string, string>;
  /** How the engine behaves when it runs in this process. */
  engine?: Pick<EngineOptions, 'leaseMs' | 'maintenance' | 'sweepEveryMs' | 'retention'>;
}

/** What an engine needs besides its store, by address. */
export interface EngineParts {
  transport: string;
  blobs?: string | undefined;
}

/** An engine on an open store; the store is closed again when the rest of it cannot be had. */
export async function startEngine(
  store: Store,
  parts: EngineParts,
  options: Omit<EngineOptions, 'store' | 'transport' | 'blobs'>,
): Promise<Waybill> {
  try {
    const blobs = parts.blobs === undefined ? undefined : await openBlobs(parts.blobs);
    const openTransport = await readTransport(parts.transport);
    const transport = await openTransport({ clock: store.clock, ...options });
    return engine({ store, ...(transport && { transport }), ...(blobs && { blobs }), ...options });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The whole of Waybill behind an address: in this process on a store, or a server spoken to over HTTP. */
export async function open(url: string, options: ConnectOptions): Promise<Waybill> {
  checkNodeVersion();
  checkOptions(options);
  const { logger, clock, headers, blobs, create = true, transport = 'poll' } = options;
  const address = parseAddress(url);
  if (address.kind === 'remote') {
    // Loaded only when named, like the stores.
    const { remote } = await import('@waybill/client/http');
    return remote(address.url, headers ? { headers } : {});
  }
  const store = await openStore(address, { create, ...(logger && { logger }), ...(clock && { clock }) });
  return startEngine(store, { transport, blobs }, { ...(logger && { logger }), ...options.engine });
}

const OPTIONS: Readonly<Record<keyof ConnectOptions, true>> = {
  logger: true,
  clock: true,
  transport: true,
  blobs: true,
  create: true,
  headers: true,
  engine: true,
};

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** Without a compiler nobody else would tell of a misspelt option. */
function checkOptions(options: ConnectOptions): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(OPTIONS, name));
  if (unknown !== undefined) {
    const known = Object.keys(OPTIONS);
    const meant = didYouMean(unknown, known) || ` It takes ${known.join(', ')}.`;
    throw new WaybillError('invalid_request', `connect() has no option '${unknown}'.${meant}`);
  }
  const { logger } = options;
  const missing = logger && LEVELS.find((level) => typeof logger[level] !== 'function');
  if (missing === undefined) return;
  throw new WaybillError('invalid_request', `The option 'logger' has no method '${missing}'.`, {
    hint: 'Give a logger with debug, info, warn and error, such as one of pino, or silentLogger.',
  });
}
