import { isIP } from 'node:net';
import { type Logger, type Waybill, WaybillError } from '@waybill/core';
import {
  alertService,
  checkAlerts,
  checkEdge,
  checkPort,
  createApp,
  isLoopback,
  type Listening,
  serve as listen,
  webhookService,
} from '@waybill/server';
import { LARGEST_PAYLOAD } from '../connect/open-blobs.ts';
import { tellEventBus } from '../connect/open-event-bus.ts';
import { parseStoreAddress } from '../connect/parse-address.ts';
import { shownAddress, shownWord } from '../connect/shown-address.ts';
import { prepareEngine } from '../sdk/open.ts';
import type { Telemetry } from '../telemetry/start-telemetry.ts';
import { edgeOf, hasNoKeys, warnOfEdge } from './edge.ts';
import type { ServeOptions } from './serve-options.ts';
import { version } from './version.ts';

export interface Host {
  waybill: Waybill;
  url: string;
  /** Of the port for gRPC, where there is one. */
  grpcUrl?: string;
  /** It asks for keys, and there is none. */
  lacksKeys: boolean;
  /** Stops taking requests, lets those under way finish, then closes the engine and its store. */
  drain(): Promise<void>;
}

/** Store, engine and HTTP server, wired and listening. All options are checked before the store is opened. */
export async function startHost(
  options: ServeOptions & { accessLog?: boolean },
  logger: Logger,
  telemetry?: Telemetry,
): Promise<Host> {
  checkListening(options);
  const { alerts = {}, webhookTargets } = options;
  checkAlerts(alerts, webhookTargets);
  const edge = edgeOf(options, logger);
  await checkEdge(edge);
  // A store that does not exist is made when it is opened, and a server that cannot listen must leave none behind.
  if (options.portGiven) await checkPort(options);
  if (options.grpcPort !== undefined)
    await checkPort({ host: options.host, port: options.grpcPort, flag: '--grpc-port' });
  const start = await prepareEngine({ ...options, store: parseStoreAddress(options.store) });
  const instrumentation = telemetry?.instrumentation;
  const waybill = await start({
    logger,
    ...(options.engine && { engine: options.engine }),
    ...(instrumentation && { telemetry: instrumentation }),
  });
  const watching = instrumentation?.watch(waybill);
  let telling: Awaited<ReturnType<typeof tellEventBus>> | undefined;
  try {
    const webhooks = webhookService({
      ...{ waybill, logger, version: version(), ...options.webhookTargets },
      ...(instrumentation && { observe: instrumentation.delivery }),
    });
    const alerting = alertService({
      ...{ waybill, alerts, logger, version: version(), ...options.webhookTargets },
      ...(instrumentation && { observe: instrumentation.delivery }),
    });
    const app = createApp({
      webhooks,
      waybill,
      logger,
      version: version(),
      requireLease: options.requireLease,
      ...(edge.auth && { auth: edge.auth }),
      ...(edge.cors && { cors: edge.cors }),
      ...(edge.leaseTokens !== undefined && { leaseTokens: edge.leaseTokens }),
      ...(options.requestsPerMinute !== undefined && { requestsPerMinute: options.requestsPerMinute }),
      ...(options.openRequests !== undefined && { openRequests: options.openRequests }),
      // What no row could hold is refused at the door, unless there is another place for it.
      ...(options.blobs !== undefined && { maxBodyBytes: LARGEST_PAYLOAD }),
      ...(options.engine?.leaseMs !== undefined && { visibilityMs: options.engine.leaseMs }),
      testDirectives: options.testDirectives ?? false,
      accessLog: options.accessLog ?? false,
      ...(instrumentation && { observeRequest: instrumentation.request, observeStreams: instrumentation.streams }),
      ...(telemetry?.metrics && { metrics: telemetry.metrics }),
    });
    const { eventBus, blobs } = options;
    if (eventBus)
      telling = await tellEventBus(eventBus, { waybill, blobs, logger, observe: instrumentation?.delivery });
    const listening = await listenSomewhere(app, options, logger);
    webhooks.start();
    alerting.start();
    warnOfEdge(options, edge.asksWho, logger);
    const lacksKeys = edge.asksWho && !edge.auth?.given && !edge.auth?.jwt && (await hasNoKeys(waybill));
    const drain = async () => {
      await listening.close();
      await Promise.all([webhooks.stop(), alerting.stop(), telling?.stop()]);
      watching?.stop();
      await waybill.close();
    };
    const { url, grpcUrl } = listening;
    return { waybill, url, ...(grpcUrl !== undefined && { grpcUrl }), lacksKeys, drain };
  } catch (error) {
    watching?.stop();
    await telling?.stop();
    await waybill.close();
    throw error;
  }
}

/** What the server refuses when it begins to listen, refused before the store is opened and migrated. */
function checkListening({ host, allowedHosts, testDirectives }: ServeOptions): void {
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
}

/** A port that the user did not name may be any: `dev` must start also where 8080 is taken. */
async function listenSomewhere(
  app: ReturnType<typeof createApp>,
  options: ServeOptions,
  logger: Logger,
): Promise<Listening> {
  const { host, port, grpcPort, noAuth, allowedHosts, maxConnections, portGiven, tls, trustProxy = false } = options;
  const listening = {
    ...{ host, noAuth, allowedHosts, trustProxy, logger },
    ...(tls && { tls }),
    ...(grpcPort !== undefined && { grpcPort }),
    ...(maxConnections !== undefined && { maxConnections }),
  };
  try {
    return await listen(app, { ...listening, port });
  } catch (error) {
    if (portGiven || (error as WaybillError).code !== 'conflict') throw error;
    return listen(app, { ...listening, port: 0 });
  }
}

/** Behind it, where nobody could call the server yet, how to make the first key. */
export const readyLine = (host: Host, options: ServeOptions): string => {
  const store = shownAddress(options.store);
  // An address that hides a password is no use in a shell.
  const named = store === options.store ? ` --store '${store}'` : '';
  if (host.lacksKeys && options.store === IN_MEMORY) return `${readyOn(host, store)}${NO_KEY_IN_MEMORY}`;
  const first = `There is no key yet. Create one: waybill keys create admin --scopes admin --tenant '*'${named}\n`;
  return `${readyOn(host, store)}${host.lacksKeys ? first : ''}`;
};

const IN_MEMORY = 'sqlite::memory:';
const NO_KEY_IN_MEMORY =
  'There is no key, and none can be added: this store is in the memory of the server. Start it with --keys FILE or on a store in a file.\n';

const readyOn = ({ url, grpcUrl }: Host, store: string): string =>
  `waybill ready on ${url}${grpcUrl === undefined ? '' : ` and ${grpcUrl}`} (store ${store})\n`;
