import type { RemoteOptions } from '@waybill/client/http';
import { checkNodeVersion, type EngineOptions, engine, inTenant, stderrLogger, type Waybill } from '@waybill/core';
import type { Instrumentation } from '@waybill/telemetry';
import type { AwsParts } from '../connect/aws-parts.ts';
import { readBlobs } from '../connect/open-blobs.ts';
import { openStore } from '../connect/open-store.ts';
import { readTransport } from '../connect/open-transport.ts';
import { parseAddress, type RemoteAddress, type StoreAddress } from '../connect/parse-address.ts';
import { type ConnectOptions, checkOptions, checkRemoteOptions, checkStoreOptions } from './connect-options.ts';
import { loadTelemetry } from './telemetry-option.ts';

/** What an engine is made from, by address. */
export interface EngineParts {
  store: StoreAddress;
  transport: string;
  blobs?: string | undefined;
  aws?: AwsParts;
}

/** What only the command says. */
interface Besides {
  /** Told of a call to a server that takes long. */
  slow?: RemoteOptions['slow'];
  aws?: AwsParts;
}

/** Opens the store and starts an engine on it. */
export type StartEngine = (
  opening: Pick<ConnectOptions, 'logger' | 'clock' | 'create' | 'engine' | 'telemetry'>,
) => Promise<Waybill>;

/** Reads and checks the parts of an engine. Nothing is opened before the answer is called, so a refusal leaves no file. */
export async function prepareEngine(parts: EngineParts): Promise<StartEngine> {
  const openTransport = await readTransport(parts.transport, parts.aws?.sqs);
  const openBlobs = parts.blobs === undefined ? undefined : await readBlobs(parts.blobs);
  return async ({ logger, clock, create = true, engine: settings, telemetry: asked }) => {
    const telemetry = await loadTelemetry(asked);
    const logging = logger === undefined ? {} : { logger };
    const observed = telemetry && { awsObserver: telemetry.aws };
    const dynamodb = parts.aws?.dynamodb;
    const opening = { create, ...logging, ...(clock && { clock }), ...observed, ...(dynamodb && { dynamodb }) };
    const store = await openStore(parts.store, opening);
    try {
      const blobs = await openBlobs?.();
      const transport = await openTransport({ clock: store.clock, ...logging });
      const given = { store, ...(transport && { transport }), ...(blobs && { blobs }), ...logging, ...settings };
      return telemetry === undefined ? engine(given) : telemetry.port(engine(instrumented(given, telemetry)));
    } catch (error) {
      await store.close();
      throw error;
    }
  };
}

function instrumented(options: EngineOptions, telemetry: Instrumentation): EngineOptions {
  const { store, transport, blobs } = options;
  return {
    ...{ ...options, store: telemetry.store(store), observer: telemetry.observer },
    ...(transport && { transport: telemetry.transport(transport) }),
    ...(blobs && { blobs: { ...blobs, store: telemetry.blobs(blobs.store) } }),
  };
}

/** Loaded only when named, like the stores: gRPC takes three libraries. */
async function openServer({ url, protocol }: RemoteAddress, options: RemoteOptions): Promise<Waybill> {
  if (protocol === 'http') return (await import('@waybill/client/http')).remote(url, options);
  return (await import('@waybill/client/rpc')).rpcRemote(url, options);
}

/** The whole of Waybill behind an address: in this process on a store, or a server spoken to over HTTP or gRPC. */
export async function open(url: string, options: ConnectOptions, { slow, aws }: Besides = {}): Promise<Waybill> {
  checkNodeVersion();
  checkOptions(options);
  const address = parseAddress(url);
  if (address.kind === 'remote') {
    checkRemoteOptions(options);
    const { headers, key, tenant, blobs, logger = stderrLogger } = options;
    // Workers open it when they need it, which would be late for a mistake in the address.
    if (blobs !== undefined) await readBlobs(blobs);
    const telemetry = await loadTelemetry(options.telemetry);
    const sender = { ...(headers && { headers }), ...(key !== undefined && { key }) };
    const given = {
      ...{ ...sender, ...(tenant !== undefined && { tenant }), ...(slow && { slow }) },
      ...(telemetry && { callHeaders: telemetry.headers }),
    };
    const port = await openServer(address, { logger, ...given });
    return telemetry === undefined ? port : telemetry.port(port);
  }
  checkStoreOptions(options);
  const { transport = 'poll', blobs, tenant = '' } = options;
  const start = await prepareEngine({ store: address, transport, blobs, ...(aws && { aws }) });
  return inTenant(await start(options), tenant);
}
