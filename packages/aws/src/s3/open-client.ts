import { clientSettings, watchFailures } from '../client-settings.ts';
import { timeoutsOf, triesIn } from '../timeouts.ts';
import { type Client, loadSdk, type Sdk } from './sdk.ts';
import type { S3Options } from './settings.ts';

const SOCKETS = 64;

/** The caller's own client, which stays the caller's to close, or one made for this store. */
export async function openClient(options: S3Options): Promise<{ sdk: Sdk; client: Client; close: () => void }> {
  const sdk = await loadSdk();
  if (options.client) return { sdk, client: options.client, close: () => {} };
  const timeouts = timeoutsOf(options.timeouts);
  const { connectMs, requestMs } = timeouts;
  const bounds = { sockets: SOCKETS, connectMs, answerMs: null, silenceMs: requestMs };
  const { settings, agents } = clientSettings(options, bounds);
  const client = new sdk.S3Client({
    ...settings,
    maxAttempts: triesIn(timeouts),
    // Emulators have no names of their own for every bucket.
    ...(options.endpoint !== undefined && { forcePathStyle: true }),
  });
  watchFailures(client, agents);
  return { sdk, client, close: () => client.destroy() };
}
