import type { HandlerContext, Interceptor } from '@connectrpc/connect';
import type { Surface } from '../surface.ts';
import { CALL, type RpcCall } from './call.ts';
import { logInternal, reword, toConnectError } from './errors.ts';
import { observedStream } from './streams/observed-stream.ts';

/** Stands around every method: turns errors into those of the protocol, and lets no answer come after its deadline. */
export function guard(surface: Surface): Interceptor {
  return (next) => async (request) => {
    const call = request.contextValues.get(CALL)!;
    const { method } = request;
    const refused = (reason: unknown) => {
      logInternal(surface.logger, reason, call);
      const error = toConnectError(reason, call);
      // Here too: where the deadline has ended the call before, its signal does not carry this error.
      reword(error, method, call);
      return error;
    };
    try {
      const response = await before(request.signal, next(request));
      if (!response.stream) return response;
      const message = whole(observedStream(response.message, call, { method, surface }), request.signal);
      return { ...response, message: translated(message, refused) };
    } catch (reason) {
      throw refused(reason);
    }
  };
}

/** A stream that was ended from outside has not come to its end. */
async function* whole<T>(messages: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  yield* messages;
  signal.throwIfAborted();
}

async function* translated<T>(messages: AsyncIterable<T>, refused: (reason: unknown) => Error): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (reason) {
    throw refused(reason);
  }
}

/** The work itself goes on where it cannot be stopped: its outcome is then like that of an answer that was lost. */
function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Comes before anything of the message is read: watches for the end of the call, and refuses what the app has refused. */
export function gate(call: RpcCall, { signal, method }: HandlerContext): void {
  const { signal: request } = call.c.req.raw;
  call.end.watch(signal, { reword: (error) => reword(error, method, call), clientIsGone: () => request.aborted });
  if (call.refusal) throw toConnectError(call.refusal, call);
}
