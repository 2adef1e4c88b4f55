import type { EventFilter, Events, LoggedEvent } from '@waybill/core';
import { eventFromWire, type WireEvent } from '../event-wire.ts';
import type { QueryValues } from './address.ts';
import { type Calls, noWaybill } from './calls.ts';
import { Outage } from './outage.ts';
import { isLost, RemoteError } from './remote-error.ts';
import { type SseMessage, SseParser } from './sse.ts';
import { backoffMs, join } from './waiting.ts';

const EVENTS = '/ojs/v1/events';

/** A server shows signs of life far more often. When none comes, the connection is dead and nobody has told us. */
const LONGEST_SILENCE_MS = 60_000;
const LONG_LIVED_MS = 10_000;

interface WireEventPage {
  events: WireEvent[];
  cursor: string;
  has_more: boolean;
  missed?: boolean;
}

export function events(calls: Calls): Events {
  const page = (query: QueryValues, tenant: string) => calls.call<WireEventPage>('GET', EVENTS, { tenant, query });
  return {
    read: async ({ after, filter, limit } = {}) => {
      const tenant = calls.tenantOf(filter);
      const read = await page({ ...filterOf(filter), after, limit }, tenant);
      const { cursor, has_more, missed = false } = read;
      return { events: read.events.map((wire) => eventFromWire(wire, tenant)), cursor, atEnd: !has_more, missed };
    },
    end: async () => (await page({ from: 'now', limit: 1 }, calls.tenantOf(undefined))).cursor,
    follow: (query) => follow(calls, query),
  };
}

const filterOf = (filter: Partial<EventFilter> = {}): QueryValues => ({
  ...{ types: filter.types, queues: filter.queues, job_id: filter.jobIds },
});

/** One connection after the other, each beginning right behind the last event that was handed on. */
async function* follow(calls: Calls, query: Parameters<Events['follow']>[0]): AsyncGenerator<LoggedEvent> {
  const filter = filterOf(query.filter);
  const tenant = calls.tenantOf(query.filter);
  const away = join(query.signal, calls.closing);
  const outage = new Outage(calls);
  let seen: string | undefined;
  let failures = 0;
  try {
    while (!away.signal.aborted) {
      const begun = performance.now();
      try {
        const where = seen === undefined ? { ...filter, after: query.after } : filter;
        const opening = { tenant, query: where, seen, onOpen: () => outage.end() };
        for await (const { id, event, data } of connect(calls, opening, away.signal)) {
          seen = id ?? seen;
          if (data === undefined || event === 'place') {
            if (id !== undefined) query.onPlace?.(id);
            continue;
          }
          failures = 0;
          if (away.signal.aborted) return;
          if (event === 'missed') {
            query.onMissed?.();
            continue;
          }
          yield eventFromWire(JSON.parse(data), tenant);
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
  tenant: string;
  query: QueryValues;
  /** What was handed on last. */
  seen: string | undefined;
  /** The server sends events. */
  onOpen(): void;
}

async function* connect(
  calls: Calls,
  { tenant, query, seen, onOpen }: Opening,
  away: AbortSignal,
): AsyncGenerator<SseMessage> {
  const connection = join(away);
  // Besides the request: a body that came from elsewhere than a socket does not end with it.
  let hangUp = connection.abort;
  const silence = new Silence(() => hangUp());
  try {
    silence.begin(calls.timeoutMs);
    const headers = { Accept: 'text/event-stream', ...(seen !== undefined && { 'Last-Event-ID': seen }) };
    const response = await calls.open(EVENTS, { tenant, query, headers }, connection.signal);
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
