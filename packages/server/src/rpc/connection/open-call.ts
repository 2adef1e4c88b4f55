import type { Ctx } from '../../http/env.ts';

/** How long a call that needs no key may take, its message and its answer included. */
const OPEN_CALL_MS = 2_000;

/**
 * Cuts off a call that needs no key where it is not over in time: a client that is slow by intent would else hold its
 * connection for as long as callers with a key may.
 */
export function boundOpenCall(c: Ctx): void {
  const { env } = c;
  if (!env?.cut) return;
  const timer = setTimeout(() => env.cut?.(), OPEN_CALL_MS).unref();
  const over = () => clearTimeout(timer);
  // A stream of the server goes on for as long as its client likes, once it is asked for.
  c.set('openCallGoesOn', over);
  env.delivered?.().then(over, over);
}
