import type { EventFilter, Events, LoggedEvent } from '@waybill/core';
import { eventFromWire, type WireEvent } from '../event-wire.ts';
import type { QueryValues } from './address.ts';
import type { Calls } from './calls.ts';
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
    read: async ({ after, filter, limit }) => {
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
  let seen: string | undefined;
  let failures = 0;
  try {
    while (!away.signal.aborted) {
      const begun = performance.now();
      try {
        const where = seen === undefined ? { ...filter, after: query.after } : filter;
        for await (const { id, event, data } of connect(calls, { tenant, query: where, seen }, away.signal)) {
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
}

async function* connect(calls: Calls, { tenant, query, seen }: Opening, away: AbortSignal): AsyncGenerator<SseMessage> {
  const connection = join(away);
  // Besides the request: a body that came from elsewhere than a socket does not end with it.
  let hangUp = connection.abort;
  const silence = new Silence(() => hangUp());
  try {
    silence.begin();
    const headers = { Accept: 'text/event-stream', ...(seen !== undefined && { 'Last-Event-ID': seen }) };
    const response = await calls.open(EVENTS, { tenant, query, headers }, connection.signal);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream') || response.body === null)
      throw new RemoteError({ code: 'internal', message: 'What answered is no Waybill server.' });
    const reader = response.body.getReader();
    hangUp = () => {
      connection.abort();
      reader.cancel().catch(() => {});
    };
    away.addEventListener('abort', hangUp, { once: true });
    if (away.aborted) return;
    const decoder = new TextDecoder();
    const parser = new SseParser();
    for (;;) {
      silence.begin();
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw new RemoteError({ code: 'unavailable', message: 'The stream broke off.' }, error);
      });
      silence.end();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    silence.end();
    away.removeEventListener('abort', hangUp);
    hangUp();
    connection.leave();
  }
}

/** Tells when nothing has come for too long. Runs only while we wait: a slow reader of ours is no silence. */
class Silence {
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #tell: () => void;

  constructor(tell: () => void) {
    this.#tell = tell;
  }

  begin(): void {
    this.end();
    this.#timer = setTimeout(this.#tell, LONGEST_SILENCE_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
