import { boundAnswers } from '../answer-bound.ts';
import { clientSettings, watchFailures } from '../client-settings.ts';
import { timeoutsOf } from '../timeouts.ts';
import { type Client, loadSdk, type Sdk } from './sdk.ts';
import type { EventBusOptions } from './settings.ts';

const SOCKETS = 16;

export interface OpenedClient {
  sdk: Sdk;
  client: Client;
  close(): void;
}

/** The caller's own client, which stays the caller's to close, or one made for this bus. */
export async function openClient(options: EventBusOptions): Promise<OpenedClient> {
  const sdk = await loadSdk();
  if (options.client) return { sdk, client: options.client, close: () => {} };
  const { connectMs, requestMs } = timeoutsOf(options.timeouts);
  const bounds = { sockets: SOCKETS, connectMs, answerMs: requestMs, silenceMs: requestMs };
  const { settings, agents } = clientSettings(options, bounds);
  // One try: the publisher repeats requests itself, and only with the entries that were not taken.
  const client = new sdk.EventBridgeClient({ ...settings, maxAttempts: 1 });
  boundAnswers(watchFailures(client, agents), requestMs);
  return { sdk, client, close: () => client.destroy() };
}
