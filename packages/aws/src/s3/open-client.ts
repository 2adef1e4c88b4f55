import { clientSettings } from '../client-settings.ts';
import { type Client, loadSdk, type Sdk } from './sdk.ts';
import type { S3Options } from './settings.ts';

/** Enough for a large payload on a slow line. */
const REQUEST_MS = 60_000;
const SOCKETS = 64;

/** The caller's own client, which stays the caller's to close, or one made for this store. */
export async function openClient(options: S3Options): Promise<{ sdk: Sdk; client: Client; close: () => void }> {
  const sdk = await loadSdk();
  if (options.client) return { sdk, client: options.client, close: () => {} };
  const client = new sdk.S3Client({
    ...clientSettings(options, { requestMs: REQUEST_MS, sockets: SOCKETS }),
    // Emulators have no names of their own for every bucket.
    ...(options.endpoint !== undefined && { forcePathStyle: true }),
  });
  return { sdk, client, close: () => client.destroy() };
}
