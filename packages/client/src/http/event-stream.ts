import type { QueryValues } from './address.ts';
import { type Calls, noWaybill } from './calls.ts';
import { Outage } from './outage.ts';
import { isLost, RemoteError } from './remote-error.ts';
import { type SseMessage, SseParser } from './sse.ts';
import { backoffMs, join } from './waiting.ts';

/** A server shows signs of life far more often. When none comes, the connection is dead, and TCP has not noticed. */
const LONGEST_SILENCE_MS = 60_000;
const LONG_LIVED_MS = 10_000;

interface Followed {
  path: string;
  tenant: string;
  query: QueryValues;
  /** Only of the first connection: from then on it is known what was handed on last. */
  first?: QueryValues;
  signal: AbortSignal | undefined;
}

/** One connection after the other, each beginning right behind the last message that was handed on. */
export async function* followStream(
  calls: Calls,
  { path, tenant, query, first, signal }: Followed,
): AsyncGenerator<SseMessage> {
  const away = join(signal, calls.closing);
  const outage = new Outage(calls);
  let seen: string | undefined;
  let failures = 0;
  try {
    while (!away.signal.aborted) {
      const begun = performance.now();
      try {
        const where = seen === undefined ? { ...query, ...first } : query;
        const opening = { path, tenant, query: where, seen, onOpen: () => outage.end() };
        for await (const message of connect(calls, opening, away.signal)) {
          seen = message.id ?? seen;
          if (message.data !== undefined && message.event !== 'place') failures = 0;
          if (away.signal.aborted) return;
          yield message;
        }
      } catch (error) {
        if (away.signal.aborted) return;
        if (!isLost(error) && !isSlowDown(error)) throw error;
        outage.tell(error);
      }
      // Proxies end idle connections now and then; only one that ended soon is a sign of trouble.
      failures = performance.now() - begun > LONG_LIVED_MS ? 0 : failures + 1;
      await calls.sleep(backoffMs(failures), away.signal);
    }
  } finally {
    away.leave();
  }
}

const isSlowDown = (error: unknown): boolean => error instanceof RemoteError && error.retryable;

interface Opening {
  path: string;
  tenant: string;
  query: QueryValues;
  /** What was handed on last. */
  seen: string | undefined;
  /** The server sends events. */
  onOpen(): void;
}

async function* connect(
  calls: Calls,
  { path, tenant, query, seen, onOpen }: Opening,
  away: AbortSignal,
): AsyncGenerator<SseMessage> {
  const connection = join(away);
  // Besides the request: a body that came from elsewhere than a socket does not end with it.
  let hangUp = connection.abort;
  const silence = new Silence(() => hangUp());
  try {
    silence.begin(calls.timeoutMs);
    const headers = { Accept: 'text/event-stream', ...(seen !== undefined && { 'Last-Event-ID': seen }) };
    const response = await calls.open(path, { tenant, query, headers }, connection.signal);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || response.body === null)
      throw noWaybill(calls.server);
    const reader = response.body.getReader();
    hangUp = () => {
      connection.abort();
      reader.cancel().catch(() => {});
    };
    away.addEventListener('abort', hangUp, { once: true });
    if (away.aborted) return;
    const decoder = new TextDecoder();
    const parser = new SseParser();
    // Bytes that never make a line are no sign of life.
    for (let left = calls.timeoutMs, isOpen = false; ; ) {
      const begun = performance.now();
      silence.begin(left);
      const { done, value } = await reader.read().catch((error: unknown) => {
        const message = `The stream of events from ${calls.server} broke off.`;
        throw new RemoteError({ code: 'unavailable', message }, error);
      });
      silence.end();
      if (done && silence.isBroken) throw tooQuiet(calls.server);
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      if (/[\r\n]/.test(text)) {
        if (!isOpen) onOpen();
        isOpen = true;
        left = LONGEST_SILENCE_MS;
      } else left -= performance.now() - begun;
      yield* parser.push(text);
    }
  } finally {
    silence.end();
    away.removeEventListener('abort', hangUp);
    hangUp();
    connection.leave();
  }
}

const tooQuiet = (server: string): RemoteError =>
  new RemoteError({ code: 'timeout', message: `The stream of events from ${server} was silent for too long.` });

/** Tells when nothing has come for too long. Runs only while we wait: a slow reader of ours is no silence. */
class Silence {
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #tell: () => void;
  isBroken = false;

  constructor(tell: () => void) {
    this.#tell = tell;
  }

  begin(mostMs: number): void {
    this.end();
    this.#timer = setTimeout(
      () => {
        this.isBroken = true;
        this.#tell();
      },
      Math.max(0, mostMs),
    );
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
