import { type Client, loadSdk, type Sdk } from './sdk.ts';
import type { S3Options } from './settings.ts';

const CONNECT_MS = 2_000;
/** Enough for a large payload on a slow line. */
const REQUEST_MS = 60_000;
const SOCKETS = 64;

/** The caller's own client, which stays the caller's to close, or one made for this store. */
export async function openClient(options: S3Options): Promise<{ sdk: Sdk; client: Client; close: () => void }> {
  const sdk = await loadSdk();
  if (options.client) return { sdk, client: options.client, close: () => {} };
  const client = new sdk.S3Client({
    ...(options.region !== undefined && { region: options.region }),
    // Emulators have no names of their own for every bucket.
    ...(options.endpoint !== undefined && { endpoint: options.endpoint, forcePathStyle: true }),
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      httpAgent: { maxSockets: SOCKETS },
      httpsAgent: { maxSockets: SOCKETS },
    },
  });
  return { sdk, client, close: () => client.destroy() };
}
