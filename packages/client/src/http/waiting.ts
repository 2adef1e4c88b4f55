const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/** Doubles with each failure up to a bound, and is drawn at random so that many clients do not come back as one. */
export function backoffMs(failures: number): number {
  const most = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
  return Math.round(most * (0.5 + Math.random() / 2));
}

export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** Resolves after `ms`, or as soon as the signal is aborted; it never rejects. */
export const sleep: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });

export interface Joined {
  /** Aborted as soon as one of the sources is, or `abort` is called. */
  signal: AbortSignal;
  abort(): void;
  /** The sources forget this one. Joined by hand for that: `AbortSignal.any` leaves something in a long-lived source. */
  leave(): void;
}

export function join(...signals: readonly (AbortSignal | undefined)[]): Joined {
  const sources = signals.filter((signal) => signal !== undefined);
  const joined = new AbortController();
  const abort = () => joined.abort();
  for (const source of sources) {
    if (source.aborted) abort();
    else source.addEventListener('abort', abort, { once: true });
  }
  return {
    signal: joined.signal,
    abort,
    leave: () => {
      for (const source of sources) source.removeEventListener('abort', abort);
    },
  };
}
