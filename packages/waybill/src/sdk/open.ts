import type { RemoteOptions } from '@waybill/client/http';
import { checkNodeVersion, engine, inTenant, stderrLogger, type Waybill } from '@waybill/core';
import { readBlobs } from '../connect/open-blobs.ts';
import { openStore } from '../connect/open-store.ts';
import { readTransport } from '../connect/open-transport.ts';
import { parseAddress, type StoreAddress } from '../connect/parse-address.ts';
import { type ConnectOptions, checkOptions, checkRemoteOptions } from './connect-options.ts';

/** What an engine is made from, by address. */
export interface EngineParts {
  store: StoreAddress;
  transport: string;
  blobs?: string | undefined;
}

/** Opens the store and starts an engine on it. */
export type StartEngine = (opening: Pick<ConnectOptions, 'logger' | 'clock' | 'create' | 'engine'>) => Promise<Waybill>;

/** Reads and checks the parts of an engine. Nothing is opened before the answer is called, so a refusal leaves no file. */
export async function prepareEngine(parts: EngineParts): Promise<StartEngine> {
  const openTransport = await readTransport(parts.transport);
  const openBlobs = parts.blobs === undefined ? undefined : await readBlobs(parts.blobs);
  return async ({ logger, clock, create = true, engine: settings }) => {
    const logging = logger === undefined ? {} : { logger };
    const store = await openStore(parts.store, { create, ...logging, ...(clock && { clock }) });
    try {
      const blobs = await openBlobs?.();
      const transport = await openTransport({ clock: store.clock, ...logging });
      return engine({ store, ...(transport && { transport }), ...(blobs && { blobs }), ...logging, ...settings });
    } catch (error) {
      await store.close();
      throw error;
    }
  };
}

/** The whole of Waybill behind an address: in this process on a store, or a server spoken to over HTTP. */
export async function open(url: string, options: ConnectOptions, slow?: RemoteOptions['slow']): Promise<Waybill> {
  checkNodeVersion();
  checkOptions(options);
  const address = parseAddress(url);
  if (address.kind === 'remote') {
    checkRemoteOptions(options);
    // Loaded only when named, like the stores.
    const { remote } = await import('@waybill/client/http');
    const { headers, tenant, logger = stderrLogger } = options;
    const given = { ...(headers && { headers }), ...(tenant !== undefined && { tenant }), ...(slow && { slow }) };
    return remote(address.url, { logger, ...given });
  }
  const { transport = 'poll', blobs, tenant = '' } = options;
  const start = await prepareEngine({ store: address, transport, blobs });
  return inTenant(await start(options), tenant);
}
