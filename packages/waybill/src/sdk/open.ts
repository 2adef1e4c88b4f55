import { type Clock, type EngineOptions, engine, type Logger, type Store, type Waybill } from '@waybill/core';
import { openStore } from '../connect/open-store.ts';
import { openTransport } from '../connect/open-transport.ts';

export interface ConnectOptions {
  /** @defaultValue silent */
  logger?: Logger;
  /** @defaultValue systemClock */
  clock?: Clock;
  /** What carries the hints when the engine runs in this process: `poll` or `sqs://REGION/PREFIX`. @defaultValue 'poll' */
  transport?: string;
  /** Whether a DynamoDB table that does not exist is made. @defaultValue true */
  create?: boolean;
  /** Sent with every call to a server, e.g. `Authorization`. */
  headers?: Record<string, string>;
  /** How the engine behaves when it runs in this process. */
  engine?: Pick<EngineOptions, 'leaseMs' | 'maintenance' | 'sweepEveryMs' | 'retention'>;
}

/** An engine on an open store; the store is closed again when its transport cannot be had. */
export async function startEngine(
  store: Store,
  address: string,
  options: Omit<EngineOptions, 'store' | 'transport'>,
): Promise<Waybill> {
  try {
    const transport = await openTransport(address, { clock: store.clock, ...options });
    return engine({ store, ...(transport && { transport }), ...options });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The whole of Waybill behind an address: in this process on a store, or a server spoken to over HTTP. */
export async function open(url: string, options: ConnectOptions): Promise<Waybill> {
  const { logger, clock, headers, create = true, transport = 'poll' } = options;
  if (/^https?:/i.test(url)) {
    // Loaded only when named, like the stores.
    const { remote } = await import('@waybill/client/http');
    return remote(url, headers ? { headers } : {});
  }
  const store = await openStore(url, { create, ...(logger && { logger }), ...(clock && { clock }) });
  return startEngine(store, transport, { ...(logger && { logger }), ...options.engine });
}
