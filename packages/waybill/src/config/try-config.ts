import { checkHealthOptions, WaybillError } from '@waybill/core';
import { readBlobs } from '../connect/open-blobs.ts';
import { readTransport } from '../connect/open-transport.ts';
import { parseAddress } from '../connect/parse-address.ts';
import { alertsIn } from './alerts-in.ts';
import { type Config, type Loading, loadConfig } from './load-config.ts';

/** Loads a file and also reads the addresses in it, as a server would. Nothing is opened. */
export async function tryConfig(loading: Loading): Promise<Config | undefined> {
  const config = await loadConfig(loading);
  if (config === undefined) return undefined;
  const { WAYBILL_STORE: store, WAYBILL_TRANSPORT: transport, WAYBILL_BLOBS: blobs } = config.env;
  await told('store', config, async () => store !== undefined && parseAddress(store));
  await told('transport', config, async () => transport !== undefined && readTransport(transport));
  await told('blobs', config, async () => blobs !== undefined && readBlobs(blobs));
  const { engine, alerts } = config.options;
  await told('health', config, async () => checkHealthOptions(engine?.health ?? {}));
  await told('alerts', config, async () => {
    const { checkAlerts } = await import('@waybill/server');
    // Whether receivers may be private is up to the flags of the server.
    checkAlerts(alertsIn(alerts, config.env), { allowPrivate: true });
  });
  return config;
}

/** The errors of addresses show of them only what is safe. */
async function told(key: string, { file }: Config, read: () => Promise<unknown>): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof WaybillError)) throw error;
    const { hint } = error as { hint?: string };
    const advice = hint === undefined ? {} : { hint };
    throw new WaybillError(error.code, `'${key}' in ${file}: ${error.message}`, { ...advice, cause: error });
  }
}
