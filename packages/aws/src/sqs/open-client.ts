import { boundAnswers } from '../answer-bound.ts';
import { clientSettings, watchFailures } from '../client-settings.ts';
import { isSilence, noAnswer } from '../silence.ts';
import { timeoutsOf, triesIn } from '../timeouts.ts';
import { type Client, loadSdk, type Sdk } from './sdk.ts';
import { LONGEST_POLL_MS, type SqsOptions } from './settings.ts';

/** Every queue that is waited for holds a connection. */
const SOCKETS = 256;

export interface OpenedClient {
  sdk: Sdk;
  client: Client;
  /** For receives that wait: a connection may be silent as long as a long poll lasts, and a failed one is not repeated. */
  poller: Client;
  close(): void;
}

/** The caller's own client, which stays the caller's to close, or clients made for this transport. */
export async function openClient(options: SqsOptions): Promise<OpenedClient> {
  const sdk = await loadSdk();
  if (options.client) return { sdk, client: options.client, poller: options.client, close: () => {} };
  const timeouts = timeoutsOf(options.timeouts);
  const { connectMs, requestMs } = timeouts;
  const open = (waitMs: number, maxAttempts: number) => {
    const silenceMs = waitMs + requestMs;
    const bounds = { sockets: SOCKETS, connectMs, answerMs: silenceMs, silenceMs };
    const { settings, agents } = clientSettings(options, bounds);
    // Emulators answer with addresses that only they understand, so a given endpoint beats the queue's address.
    const emulated = options.endpoint !== undefined && { useQueueUrlAsEndpoint: false };
    const client = new sdk.SQSClient({ ...settings, maxAttempts, ...emulated });
    return boundAnswers(watchFailures(client, agents), requestMs, { longPolls: waitMs > 0 });
  };
  const [client, poller] = [open(0, triesIn(timeouts)), open(LONGEST_POLL_MS, 1)];
  const close = () => {
    client.destroy();
    poller.destroy();
  };
  return { sdk, client, poller, close };
}

/** The same client, which tells of a service that does not answer in words of ours. */
export function worded(client: Client): Client {
  const send = async (...args: Parameters<Client['send']>) => {
    try {
      return await client.send(...args);
    } catch (error) {
      throw isSilence(error) ? noAnswer('SQS', error) : error;
    }
  };
  return { send } as Client;
}
