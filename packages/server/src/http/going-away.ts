import type { Ctx } from './env.ts';

/** Tells when to stop working on an answer. */
export interface GoingAway {
  /** Aborted when the client hangs up or may call no more, the server is asked to end, or `leave` is called. */
  signal: AbortSignal;
  /** Whether nobody is left to read the answer. */
  clientIsGone(): boolean;
  /** The answer is made: whoever still waits for the signal may stop. */
  leave(): void;
}

/** Joined by hand: `AbortSignal.any` on the server's long-lived signal would keep something of every request. */
export function goingAway(c: Ctx): GoingAway {
  const sources = [c.req.raw.signal, c.env?.closing].filter((signal) => signal !== undefined);
  const joined = new AbortController();
  const abort = () => joined.abort();
  const endWatch = c.get('standing')?.watch(abort);
  for (const source of sources) {
    if (source.aborted) abort();
    else source.addEventListener('abort', abort, { once: true });
  }
  return {
    signal: joined.signal,
    clientIsGone: () => c.req.raw.signal.aborted,
    leave: () => {
      endWatch?.();
      for (const source of sources) source.removeEventListener('abort', abort);
      abort();
    },
  };
}
