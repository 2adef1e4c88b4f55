import { isIP } from 'node:net';
import { type Logger, type Waybill, WaybillError } from '@waybill/core';
import { checkPort, createApp, isLoopback, type Listening, serve as listen } from '@waybill/server';
import { LARGEST_PAYLOAD } from '../connect/open-blobs.ts';
import { parseStoreAddress } from '../connect/parse-address.ts';
import { shownAddress, shownWord } from '../connect/shown-address.ts';
import { prepareEngine } from '../sdk/open.ts';
import type { ServeOptions } from './serve-options.ts';
import { version } from './version.ts';

export interface Host {
  waybill: Waybill;
  url: string;
  /** Stops taking requests, lets those under way finish, then closes the engine and its store. */
  drain(): Promise<void>;
}

/** Store, engine and HTTP server, wired and listening. All options are checked before the store is opened. */
export async function startHost(options: ServeOptions, logger: Logger): Promise<Host> {
  checkListening(options);
  // A store that does not exist is made when it is opened, and a server that cannot listen must leave none behind.
  if (options.portGiven) await checkPort(options);
  const start = await prepareEngine({ ...options, store: parseStoreAddress(options.store) });
  const waybill = await start({ logger });
  try {
    const app = createApp({
      waybill,
      logger,
      version: version(),
      requireLease: options.requireLease,
      // What no row could hold is refused at the door, unless there is another place for it.
      ...(options.blobs !== undefined && { maxBodyBytes: LARGEST_PAYLOAD }),
      testDirectives: options.testDirectives ?? false,
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

/** What the server refuses when it begins to listen, refused before the store is opened and migrated. */
function checkListening({ host, noAuth, allowedHosts, testDirectives }: ServeOptions): void {
  const bad = allowedHosts.find((name) => isIP(name.replace(/^\[(.*)\]$/, '$1')) === 0 && !/^[\w.-]+$/.test(name));
  if (bad !== undefined) {
    throw new WaybillError('invalid_request', `Invalid host name '${shownWord(bad)}'.`, {
      hint: 'Use a name or an address without scheme and port, such as jobs.example.',
    });
  }
  if (isLoopback(host)) return;
  if (testDirectives) {
    throw new WaybillError('forbidden', 'Refusing test directives beyond loopback: any job could stop its worker.', {
      hint: 'Listen on 127.0.0.1, or leave out --test-directives.',
    });
  }
  if (noAuth) return;
  const where = host === '' ? 'every address' : host;
  throw new WaybillError('forbidden', `Refusing to listen on ${where}: anyone who reaches it could use this server.`, {
    hint: 'Listen on 127.0.0.1, or pass --no-auth (noAuth) if something else keeps strangers out.',
  });
}

/** A port that the user did not name may be any: `dev` must start also where 8080 is taken. */
async function listenSomewhere(app: ReturnType<typeof createApp>, options: ServeOptions): Promise<Listening> {
  const { host, port, noAuth, allowedHosts, maxConnections, portGiven } = options;
  const listening = { host, noAuth, allowedHosts, ...(maxConnections !== undefined && { maxConnections }) };
  try {
    return await listen(app, { ...listening, port });
  } catch (error) {
    if (portGiven || (error as WaybillError).code !== 'conflict') throw error;
    return listen(app, { ...listening, port: 0 });
  }
}

export const readyLine = (host: Host, options: ServeOptions): string =>
  `waybill ready on ${host.url} (store ${shownAddress(options.store)})\n`;
