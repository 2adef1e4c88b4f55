import type { IncomingMessage } from 'node:http';

/** What an answer must bring on average, once the time of its request is over: 64 KB a second. */
const LEAST_BYTES_PER_MS = 64;

/** What so many bytes may take at most. */
export const msFor = (bytes: number): number => Math.ceil(bytes / LEAST_BYTES_PER_MS);

/** The part of a client of the SDK that sees answers as they come. */
interface Watched {
  middlewareStack: { add(middleware: never, options: never): void };
}

/**
 * Bounds answers in total. The SDK's own bounds end with the headers or are about silence, so an answer that drips, a byte
 * a second, would hold its call for ever. An answer may take `requestMs` from the moment when its request is sent, and
 * longer only for what has come by then. An answer to a long poll has this time from its headers on.
 */
export function boundAnswers<C extends Watched>(client: C, requestMs: number, { longPolls = false } = {}): C {
  const middleware = (next: (args: unknown) => Promise<{ response: unknown }>) => async (args: unknown) => {
    const sentAt = performance.now();
    const result = await next(args);
    const { body } = result.response as { body?: Partial<IncomingMessage> };
    if (!body?.socket || body.complete) return result;
    bound(body as IncomingMessage, (longPolls ? performance.now() : sentAt) + requestMs);
    return result;
  };
  // Next to the wire, before anything reads the body.
  const place = { step: 'deserialize', priority: 'low', name: 'waybillAnswerBound' };
  client.middlewareStack.add(middleware as never, place as never);
  return client;
}

function bound(body: IncomingMessage, until: number): void {
  const { socket } = body;
  const before = socket.bytesRead;
  const look = (): void => {
    const leftMs = until + msFor(socket.bytesRead - before) - performance.now();
    if (leftMs > 0) timer = setTimeout(look, leftMs);
    else body.destroy(tooSlow());
  };
  let timer = setTimeout(look, Math.max(1, until - performance.now()));
  body.once('close', () => clearTimeout(timer));
}

const tooSlow = (): Error => Object.assign(new Error('The answer came too slowly.'), { name: 'TimeoutError' });
