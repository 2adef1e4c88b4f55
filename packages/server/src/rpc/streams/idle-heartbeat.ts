import type { HandlerContext } from '@connectrpc/connect';
import type { Heartbeat } from '../../stream/side-messages.ts';
import type { Surface } from '../../surface.ts';
import { callOf } from '../call.ts';

/**
 * Over HTTP/1.1, proxies and this server end connections on which nothing moves, so an idle stream sends a message now and then.
 * HTTP/2 has pings for that, which no client sees.
 */
export function idleHeartbeat<T>(
  context: HandlerContext,
  { clock, streamHeartbeatMs: everyMs }: Surface,
  message: () => T,
): { heartbeat?: Heartbeat<T> } {
  const isHttp1 = callOf(context).c.env?.rpc === undefined;
  return isHttp1 ? { heartbeat: { clock, everyMs, message } } : {};
}
