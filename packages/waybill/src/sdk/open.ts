import { type Clock, type EngineOptions, engine, type Logger, type Store, type Waybill } from '@waybill/core';
import { openBlobs } from '../connect/open-blobs.ts';
import { openStore } from '../connect/open-store.ts';
import { openTransport } from '../connect/open-transport.ts';

export interface ConnectOptions {
  /** @defaultValue silent */
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
    const transport = await openTransport(parts.transport, { clock: store.clock, ...options });
    return engine({ store, ...(transport && { transport }), ...(blobs && { blobs }), ...options });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The whole of Waybill behind an address: in this process on a store, or a server spoken to over HTTP. */
export async function open(url: string, options: ConnectOptions): Promise<Waybill> {
  const { logger, clock, headers, blobs, create = true, transport = 'poll' } = options;
  if (/^https?:/i.test(url)) {
    // Loaded only when named, like the stores.
    const { remote } = await import('@waybill/client/http');
    return remote(url, headers ? { headers } : {});
  }
  const store = await openStore(url, { create, ...(logger && { logger }), ...(clock && { clock }) });
  return startEngine(store, { transport, blobs }, { ...(logger && { logger }), ...options.engine });
}
