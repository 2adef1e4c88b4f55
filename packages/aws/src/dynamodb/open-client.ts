import { clientSettings } from '../client-settings.ts';
import { type Client, loadSdk, type Sdk } from './sdk.ts';
import type { DynamoOptions } from './settings.ts';

/** Shorter than a writer's patience with the log: no request takes effect after it was given up for long. */
const REQUEST_MS = 4000;
const SOCKETS = 128;

/** The caller's own client, which stays the caller's to close, or one made for this store. */
export async function openClient(options: DynamoOptions): Promise<{ sdk: Sdk; client: Client; close: () => void }> {
  const sdk = await loadSdk();
  if (options.client) return { sdk, client: options.client, close: () => {} };
  const client = new sdk.DynamoDBClient({
    ...clientSettings(options, { requestMs: REQUEST_MS, sockets: SOCKETS }),
    // The store has patience of its own, and must know what it repeats.
    maxAttempts: 1,
  });
  return { sdk, client, close: () => client.destroy() };
}
