import { eventToWire } from '@waybill/client';
import type { EventFilter, FollowQuery, LoggedEvent } from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import { type GoingAway, goingAway } from '../http/going-away.ts';
import { portOf } from '../http/port.ts';
import type { Surface } from '../surface.ts';

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache',
  // Proxies that collect answers before they pass them on would turn a stream into silence.
  'X-Accel-Buffering': 'no',
};

/** How events look on the wire, and which of them ends the stream. */
export interface StreamForm {
  text(event: LoggedEvent): string;
  isLast?(event: LoggedEvent): boolean;
}

/** History behind the cursor, then live, until the client hangs up or the server ends. Any reconnect resumes. */
export function streamEvents(
  c: Ctx,
  reading: { after?: string; filter: Partial<EventFilter> },
  surface: Surface,
  form: StreamForm = { text: eventText },
): Response {
  const away = goingAway(c);
  const log = portOf(c).events;
  const follow = (told: Told) => log.follow({ ...reading, signal: away.signal, ...told });
  const failed = (error: unknown) =>
    surface.logger.error(
      { request_id: c.get('requestId'), err: error },
      'An event stream broke; its reader may resume.',
    );
  const body = toStream(follow, {
    ...form,
    away,
    failed,
    after: reading.after,
    heartbeatMs: surface.streamHeartbeatMs,
  });
  return c.body(body, 200, HEADERS);
}

/** What a follower learns besides events. */
type Told = Required<Pick<FollowQuery, 'onMissed' | 'onPlace'>>;

interface StreamOptions extends StreamForm {
  away: GoingAway;
  failed(error: unknown): void;
  after: string | undefined;
  heartbeatMs: number;
}

/** Events are pulled as the reader takes them: a slow reader lags behind the log, it loses nothing. */
function toStream(
  follow: (told: Told) => AsyncIterable<LoggedEvent>,
  { away, failed, after, heartbeatMs, text, isLast }: StreamOptions,
): ReadableStream<Uint8Array> {
  let tell = (_: Uint8Array) => {};
  let hasRoom = () => false;
  const onMissed = () => tell(MISSED);
  // Whoever reconnects after a long silence need not have the log read again from the last event that was its own.
  const onPlace = (cursor: string) => {
    if (hasRoom()) tell(placeText(cursor));
  };
  const iterator = begin(() => follow({ onMissed, onPlace }), away);
  let heartbeat: NodeJS.Timeout | undefined;
  let isOver = false;

  const end = (controller?: ReadableStreamDefaultController<Uint8Array>) => {
    if (isOver) return;
    isOver = true;
    clearInterval(heartbeat);
    away.leave();
    controller?.close();
    // A follower that rests at an event would else stay one for ever.
    iterator.return?.().catch(() => {});
  };

  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (away.signal.aborted) return end(controller);
      tell = (chunk) => {
        if (!isOver) controller.enqueue(chunk);
      };
      // A reader that has not even taken the last chunk needs neither a sign of life nor its place.
      hasRoom = () => (controller.desiredSize ?? 0) > 0;
      away.signal.addEventListener('abort', () => end(controller), { once: true });
      heartbeat = setInterval(() => {
        if (hasRoom()) controller.enqueue(HEARTBEAT);
      }, heartbeatMs);
      controller.enqueue(after === undefined ? HEARTBEAT : placeText(after));
    },
    async pull(controller) {
      try {
        const next = await iterator.next();
        if (isOver) return;
        if (next.done) end(controller);
        else {
          controller.enqueue(bytes(text(next.value)));
          if (isLast?.(next.value)) end(controller);
        }
      } catch (error) {
        if (!isOver) failed(error);
        end(controller);
      }
    },
    cancel: () => end(),
  });
}

/** A stream that is refused leaves nothing behind. */
function begin(follow: () => AsyncIterable<LoggedEvent>, away: GoingAway): AsyncIterator<LoggedEvent> {
  try {
    return follow()[Symbol.asyncIterator]();
  } catch (error) {
    away.leave();
    throw error;
  }
}

const encoder = new TextEncoder();
const bytes = (text: string): Uint8Array => encoder.encode(text);

/** A comment: it reaches proxies and sockets, but no reader. */
const HEARTBEAT = bytes(': waybill\n\n');

/** Without an id: what the reader has seen last stays what it is. */
const MISSED = bytes('event: missed\ndata: {}\n\n');

/** Where the stream stands. With a name and data, because some readers keep no id of a message that has none. */
const placeText = (cursor: string): Uint8Array => bytes(`id: ${cursor}\nevent: place\ndata: {}\n\n`);

/** JSON has no raw line breaks, so one `data` line holds it. */
const eventText = (event: LoggedEvent): string =>
  `id: ${event.cursor}\nevent: ${event.type}\ndata: ${JSON.stringify(eventToWire(event))}\n\n`;
