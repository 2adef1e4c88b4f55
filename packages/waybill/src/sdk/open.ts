import { type Clock, type EngineOptions, engine, type Logger, type Waybill } from '@waybill/core';
import { openStore } from '../connect/open-store.ts';

export interface ConnectOptions {
  /** @defaultValue silent */
  logger?: Logger;
  /** @defaultValue systemClock */
  clock?: Clock;
  /** Sent with every call to a server, e.g. `Authorization`. */
  headers?: Record<string, string>;
  /** How the engine behaves when it runs in this process. */
  engine?: Pick<EngineOptions, 'leaseMs' | 'maintenance' | 'sweepEveryMs' | 'retention'>;
}

/** The whole of Waybill behind an address: in this process on a store, or a server spoken to over HTTP. */
export async function open(url: string, options: ConnectOptions): Promise<Waybill> {
  const { logger, clock, headers } = options;
  if (/^https?:/i.test(url)) {
    // Loaded only when named, like the stores.
    const { remote } = await import('@waybill/client/http');
    return remote(url, headers ? { headers } : {});
  }
  const store = await openStore(url, { ...(logger && { logger }), ...(clock && { clock }) });
  return engine({ store, ...(logger && { logger }), ...options.engine });
}
