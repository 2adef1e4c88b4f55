import { type Client, loadSdk, type Sdk } from './sdk.ts';
import type { SqsOptions } from './settings.ts';

const CONNECT_MS = 2_000;
/** Longer than the longest long poll. */
const REQUEST_MS = 30_000;
/** Every queue that is waited for holds a connection. */
const SOCKETS = 256;

/** The caller's own client, which stays the caller's to close, or one made for this transport. */
export async function openClient(options: SqsOptions): Promise<{ sdk: Sdk; client: Client; close: () => void }> {
  const sdk = await loadSdk();
  if (options.client) return { sdk, client: options.client, close: () => {} };
  const client = new sdk.SQSClient({
    ...(options.region !== undefined && { region: options.region }),
    // Emulators answer with addresses that only they understand, so a given endpoint beats the queue's address.
    ...(options.endpoint !== undefined && { endpoint: options.endpoint, useQueueUrlAsEndpoint: false }),
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      httpAgent: { maxSockets: SOCKETS },
      httpsAgent: { maxSockets: SOCKETS },
    },
  });
  return { sdk, client, close: () => client.destroy() };
}
