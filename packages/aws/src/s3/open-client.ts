import { boundAnswers, msFor } from '../answer-bound.ts';
import { clientSettings, watchFailures } from '../client-settings.ts';
import { type Timeouts, timeoutsOf, triesIn } from '../timeouts.ts';
import { type Client, loadSdk, type Sdk } from './sdk.ts';
import type { S3Options } from './settings.ts';

const SOCKETS = 64;

export interface OpenedClient {
  sdk: Sdk;
  client: Client;
  /** The bound of a request that brings so many bytes: they are sent before an answer can begin. */
  timeToPut(bytes: number): { requestTimeout?: number };
  timeouts: Timeouts;
  close(): void;
}

/** The caller's own client, which stays the caller's to close, or one made for this store. */
export async function openClient(options: S3Options): Promise<OpenedClient> {
  const sdk = await loadSdk();
  const timeouts = timeoutsOf(options.timeouts);
  if (options.client) return { sdk, client: options.client, timeToPut: () => ({}), timeouts, close: () => {} };
  const { connectMs, requestMs } = timeouts;
  const bounds = { sockets: SOCKETS, connectMs, answerMs: requestMs, silenceMs: requestMs };
  const { settings, agents } = clientSettings(options, bounds);
  const client = new sdk.S3Client({
    ...settings,
    maxAttempts: triesIn(timeouts),
    // Emulators have no names of their own for every bucket.
    ...(options.endpoint !== undefined && { forcePathStyle: true }),
  });
  boundAnswers(watchFailures(client, agents), requestMs);
  const timeToPut = (bytes: number) => ({ requestTimeout: requestMs + msFor(bytes) });
  return { sdk, client, timeToPut, timeouts, close: () => client.destroy() };
}
