import { addressIn, answerOf, type HttpAnswer, type HttpEvent, requestOf } from './http-event.ts';
import type { LambdaContext } from './lambda-types.ts';
import { openedOnce } from './opened-once.ts';

/** What a function tells the app with each request. */
export interface HttpBindings {
  /** Aborted before the time of the function ends: long polls then answer by themselves. */
  closing: AbortSignal;
  clientAddress?: string;
  isHttps: true;
  /** The function answers when this is done. */
  waitUntil(work: Promise<unknown>): void;
}

/** Anything that answers requests, such as an app of Hono. */
export interface HttpApp {
  fetch(request: Request, bindings: HttpBindings): Response | Promise<Response>;
}

export interface HttpHandlerOptions {
  /** Opened by the first invocation and kept as long as the function's container lives. */
  open(): Promise<{
    app: HttpApp;
    /** Resolves when what requests have begun is done. A function is frozen when it has answered. */
    idle?(): Promise<void>;
  }>;
}

/** So much of an invocation's time is left for the answer. */
const LAST_MS = 2_000;

/**
 * A function behind an HTTP API or a REST API of API Gateway, or a function URL. Answers are sent as wholes, so that streams
 * of events are for servers.
 */
export function httpHandler({ open }: HttpHandlerOptions) {
  const opened = openedOnce(open);
  return async (event: HttpEvent, context: LambdaContext): Promise<HttpAnswer> => {
    const { app, idle } = await opened();
    const closing = AbortSignal.timeout(Math.max(1, context.getRemainingTimeInMillis() - LAST_MS));
    const work: Promise<unknown>[] = [];
    const clientAddress = addressIn(event);
    const response = await app.fetch(requestOf(event, closing), {
      ...{ closing, isHttps: true, waitUntil: (one) => void work.push(one) },
      ...(clientAddress !== undefined && { clientAddress }),
    });
    const answer = await answerOf(response, event);
    await Promise.allSettled(work);
    await idle?.();
    return answer;
  };
}
