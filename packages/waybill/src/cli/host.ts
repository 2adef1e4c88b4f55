import type { Logger, Waybill } from '@waybill/core';
import { createApp, isLoopback, type Listening, serve as listen } from '@waybill/server';
import { LARGEST_PAYLOAD } from '../connect/open-blobs.ts';
import { openStore } from '../connect/open-store.ts';
import { shownAddress } from '../connect/shown-address.ts';
import { startEngine } from '../sdk/open.ts';
import type { ServeOptions } from './serve-options.ts';
import { version } from './version.ts';

export interface Host {
  waybill: Waybill;
  url: string;
  /** Stops taking requests, lets those under way finish, then closes the engine and its store. */
  drain(): Promise<void>;
}

/** Store, engine and HTTP server, wired and listening. */
export async function startHost(options: ServeOptions, logger: Logger): Promise<Host> {
  const store = await openStore(options.store, { logger });
  const waybill = await startEngine(store, options, { logger });
  try {
    const app = createApp({
      waybill,
      logger,
      version: version(),
      requireLease: options.requireLease,
      // What no row could hold is refused at the door, unless there is another place for it.
      ...(options.blobs !== undefined && { maxBodyBytes: LARGEST_PAYLOAD }),
      testDirectives: isLoopback(options.host),
    });
    const listening = await listenSomewhere(app, options);
    const drain = async () => {
      await listening.close();
      await waybill.close();
    };
    return { waybill, url: listening.url, drain };
  } catch (error) {
    await waybill.close();
    throw error;
  }
}

/** A port that the user did not name may be any: `dev` must start also where 8080 is taken. */
async function listenSomewhere(app: ReturnType<typeof createApp>, options: ServeOptions): Promise<Listening> {
  const { host, port, noAuth, allowedHosts, portGiven } = options;
  try {
    return await listen(app, { host, port, noAuth, allowedHosts });
  } catch (error) {
    if (portGiven || (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return listen(app, { host, port: 0, noAuth, allowedHosts });
  }
}

export const readyLine = (host: Host, options: ServeOptions): string =>
  `waybill ready on ${host.url} (store ${shownAddress(options.store)})\n`;
