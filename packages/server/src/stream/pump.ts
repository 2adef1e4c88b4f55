import type { Ctx } from '../http/env.ts';
import { type GoingAway, goingAway } from '../http/going-away.ts';
import type { Surface } from '../surface.ts';
import type { StreamKind } from './observer.ts';
import { OpenStream } from './open-stream.ts';

export interface Pumped {
  kind: StreamKind;
  /** What is sent. The signal is aborted when the stream is over, by either side. */
  follow(signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Whether only a proper end shows the reader that it has all, as with plain text. Then a failure must not look like one. */
  endMeansComplete?: boolean;
}

/** Messages are pulled as the reader takes them: a slow reader lags behind what it follows, it loses nothing. */
export function pump(c: Ctx, surface: Surface, { kind, follow, endMeansComplete }: Pumped): ReadableStream<Uint8Array> {
  const away = goingAway(c);
  const iterator = begin(() => follow(away.signal), away);
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const stream = new OpenStream({
    ...{ kind, surface, requestId: c.get('requestId') },
    hasRoom: () => (controller?.desiredSize ?? 0) > 0,
    cut: () => breakOff('The reader was too slow.'),
  });

  const end = (closing?: ReadableStreamDefaultController<Uint8Array>) => {
    if (stream.isOver) return;
    stream.close();
    away.leave();
    closing?.close();
    // A follower that rests at an item would else stay one for ever.
    iterator.return?.().catch(() => {});
  };
  const breakOff = (reason: string) => {
    if (c.env?.cut) c.env.cut();
    else controller?.error(new Error(reason));
    end();
  };
  return new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
      if (away.signal.aborted) end(given);
      else away.signal.addEventListener('abort', () => end(given), { once: true });
    },
    async pull(given) {
      try {
        const next = await iterator.next();
        if (stream.isOver) return;
        if (next.done) return end(given);
        stream.sending();
        given.enqueue(next.value);
      } catch (error) {
        if (stream.isOver) return;
        const facts = { request_id: c.get('requestId'), kind, err: error };
        surface.logger.error(facts, 'A stream broke. Its reader may resume.');
        if (endMeansComplete) breakOff('The stream broke.');
        else end(given);
      }
    },
    cancel: () => end(),
  });
}

/** A stream that is refused leaves nothing behind. */
function begin<T>(follow: () => AsyncIterable<T>, away: GoingAway): AsyncIterator<T> {
  try {
    return follow()[Symbol.asyncIterator]();
  } catch (error) {
    away.leave();
    throw error;
  }
}
