import { Outage } from '../http/outage.ts';
import { isLost, RemoteError } from '../http/remote-error.ts';
import { backoffMs, join } from '../http/waiting.ts';
import type { RpcCalls } from './rpc-calls.ts';

const LONG_LIVED_MS = 10_000;

export interface Resuming<T> {
  signal: AbortSignal | undefined;
  /** Opens a stream right behind what was handed on last. */
  open(signal: AbortSignal, onOpen: () => void): AsyncIterable<T>;
  /** Whether a stream that has come to its end is over, or only its connection. */
  endsByItself: boolean;
}

/** One stream after the other, until one has come to its end or the reader has left. An outage is reported and waited for. */
export async function* resumed<T>(calls: RpcCalls, { signal, open, endsByItself }: Resuming<T>): AsyncGenerator<T> {
  const away = join(signal, calls.closing);
  const outage = new Outage(calls);
  let failures = 0;
  try {
    while (!away.signal.aborted) {
      const begun = performance.now();
      try {
        for await (const message of open(away.signal, () => outage.end())) {
          if (away.signal.aborted) return;
          failures = 0;
          yield message;
        }
        if (endsByItself) return;
      } catch (error) {
        if (away.signal.aborted) return;
        if (!isLost(error) && !isSlowDown(error)) throw error;
        outage.tell(error);
      }
      // Only a stream that ended soon is a sign of trouble.
      failures = performance.now() - begun > LONG_LIVED_MS ? 0 : failures + 1;
      await calls.sleep(backoffMs(failures), away.signal);
    }
  } finally {
    away.leave();
  }
}

/** Also of a reader that was too slow, which may go on from where it was. */
const isSlowDown = (error: unknown): boolean => error instanceof RemoteError && error.retryable;
