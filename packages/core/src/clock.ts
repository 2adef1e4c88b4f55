/** Wall time, monotonic time and waiting in one service, so that a test can own all three. */
export interface Clock {
  /** Milliseconds since the epoch. May jump when somebody sets the machine's clock. */
  now(): number;
  /** Milliseconds since an arbitrary moment. Never jumps. */
  monotonic(): number;
  /** Resolves after `ms`, or as soon as the signal is aborted; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(Math.max(0, ms), LONGEST_TIMER_MS));
      signal?.addEventListener('abort', done, { once: true });
    }),
};
