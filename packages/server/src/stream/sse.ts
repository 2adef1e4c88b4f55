import { eventToWire } from '@waybill/client';
import type { EventFilter, LoggedEvent } from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import { portOf } from '../http/port.ts';
import type { Surface } from '../surface.ts';
import { pump } from './pump.ts';
import { SideMessages, withSideMessages } from './side-messages.ts';

export const SSE_HEADERS = {
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
  const log = portOf(c).events;
  const follow = (signal: AbortSignal) => {
    const side = new SideMessages<Uint8Array>();
    const events = log.follow({
      ...{ ...reading, signal },
      onMissed: () => side.put('missed', sseMessage('missed')),
      // A reader that reconnects after a long silence need not have the log read again from the last event that was its own.
      onPlace: (cursor) => side.put('place', placeMessage(cursor)),
    });
    return sseMessages(eventMessages(events, form), { surface, side, after: reading.after });
  };
  return c.body(pump(c, surface, { kind: 'events', follow }), 200, SSE_HEADERS);
}

async function* eventMessages(
  events: AsyncIterable<LoggedEvent>,
  { text, isLast }: StreamForm,
): AsyncGenerator<Uint8Array> {
  for await (const event of events) {
    yield bytesOf(text(event));
    if (isLast?.(event)) return;
  }
}

interface SseParts {
  surface: Pick<Surface, 'clock' | 'streamHeartbeatMs'>;
  side: SideMessages<Uint8Array>;
  /** The cursor that the stream begins behind. */
  after: string | undefined;
}

/** A stream of server-sent events: first a message that shows that it is open, heartbeats while it is idle. */
export async function* sseMessages(
  items: AsyncIterable<Uint8Array>,
  { surface: { clock, streamHeartbeatMs: everyMs }, side, after }: SseParts,
): AsyncGenerator<Uint8Array> {
  const heartbeat = { clock, everyMs, message: () => HEARTBEAT };
  yield after === undefined ? HEARTBEAT : placeMessage(after);
  yield* withSideMessages(items, { side, heartbeat });
}

const encoder = new TextEncoder();
const bytesOf = (text: string): Uint8Array => encoder.encode(text);

/** A comment: it reaches proxies and sockets, but no reader. */
const HEARTBEAT = bytesOf(': waybill\n\n');

/** Where the stream stands. With a name and data, because some readers keep no id of a message that has none. */
const placeMessage = (cursor: string): Uint8Array => sseMessage('place', {}, cursor);

/** JSON has no raw line breaks, so one `data` line holds it. Without an id, the last id that the reader has stays valid. */
export function sseMessage(event: string, data: object = {}, id?: string): Uint8Array {
  const place = id === undefined ? '' : `id: ${id}\n`;
  return bytesOf(`${place}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

const eventText = (event: LoggedEvent): string =>
  `id: ${event.cursor}\nevent: ${event.type}\ndata: ${JSON.stringify(eventToWire(event))}\n\n`;
