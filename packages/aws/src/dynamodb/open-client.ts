import { type Client, loadSdk, type Sdk } from './sdk.ts';
import type { DynamoOptions } from './settings.ts';

const CONNECT_MS = 2000;
/** Shorter than a writer's patience with the log: no request takes effect after it was given up for long. */
const REQUEST_MS = 4000;
const SOCKETS = 128;

/** The caller's own client, which stays the caller's to close, or one made for this store. */
export async function openClient(options: DynamoOptions): Promise<{ sdk: Sdk; client: Client; close: () => void }> {
  const sdk = await loadSdk();
  if (options.client) return { sdk, client: options.client, close: () => {} };
  const client = new sdk.DynamoDBClient({
    ...(options.region !== undefined && { region: options.region }),
    ...(options.endpoint !== undefined && { endpoint: options.endpoint }),
    // The store has patience of its own, and must know what it repeats.
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      httpAgent: { maxSockets: SOCKETS },
      httpsAgent: { maxSockets: SOCKETS },
    },
  });
  return { sdk, client, close: () => client.destroy() };
}
