import { clientSettings } from '../client-settings.ts';
import { type Client, loadSdk, type Sdk } from './sdk.ts';
import type { SqsOptions } from './settings.ts';

/** Longer than the longest long poll. */
const REQUEST_MS = 30_000;
/** Every queue that is waited for holds a connection. */
const SOCKETS = 256;

/** The caller's own client, which stays the caller's to close, or one made for this transport. */
export async function openClient(options: SqsOptions): Promise<{ sdk: Sdk; client: Client; close: () => void }> {
  const sdk = await loadSdk();
  if (options.client) return { sdk, client: options.client, close: () => {} };
  const client = new sdk.SQSClient({
    ...clientSettings(options, { requestMs: REQUEST_MS, sockets: SOCKETS }),
    // Emulators answer with addresses that only they understand, so a given endpoint beats the queue's address.
    ...(options.endpoint !== undefined && { useQueueUrlAsEndpoint: false }),
  });
  return { sdk, client, close: () => client.destroy() };
}
