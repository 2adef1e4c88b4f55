import { boundAnswers } from '../answer-bound.ts';
import { clientSettings, watchFailures } from '../client-settings.ts';
import { timeoutsOf } from '../timeouts.ts';
import { type Client, loadSdk, type Sdk } from './sdk.ts';
import type { DynamoOptions } from './settings.ts';

const SOCKETS = 128;

/** The caller's own client, which stays the caller's to close, or one made for this store. */
export async function openClient(options: DynamoOptions): Promise<{ sdk: Sdk; client: Client; close: () => void }> {
  const sdk = await loadSdk();
  if (options.client) return { sdk, client: options.client, close: () => {} };
  const { connectMs, requestMs } = timeoutsOf(options.timeouts);
  const bounds = { sockets: SOCKETS, connectMs, answerMs: requestMs, silenceMs: requestMs };
  const { settings, agents } = clientSettings(options, bounds);
  // One try: the store repeats requests itself, and must know what it repeats.
  const client = new sdk.DynamoDBClient({ ...settings, maxAttempts: 1 });
  boundAnswers(watchFailures(client, agents), requestMs);
  return { sdk, client, close: () => client.destroy() };
}
