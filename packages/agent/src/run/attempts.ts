import type { AttemptTrace } from '../trace/session-trace.ts';
import type { ErrorVerdict } from './outside.ts';

/** Attempts of the step within one run. */
export const MOST_ATTEMPTS = 3;
const BASE_MS = 1_000;
const JITTER_MS = 1_000;
const CAP_MS = 30_000;
/** Longer is left to the retry policy of the job, so that the run does not keep its worker waiting. */
const LONGEST_WAIT_MS = 60_000;

export interface Retry {
  attempt: number;
  error: unknown;
  verdict: ErrorVerdict;
  delayMs: number;
}

export interface AttemptsParts {
  signal: AbortSignal;
  baseMs?: number | undefined;
  classify(error: unknown): ErrorVerdict;
  /** Called with the number of the attempt, from 1. */
  attempt(number: number): Promise<unknown>;
  run: { readonly queries: number };
  record: {
    readonly attempts: AttemptTrace[];
    describe(error: unknown): { code: string; message: string };
    /** Told before the wait for another attempt. */
    retry(retry: Retry): void;
  };
}

/** Tries up to three times what may succeed the next time: with a backoff that doubles, and jitter. */
export async function attempts({ signal, baseMs, classify, attempt, run, record }: AttemptsParts): Promise<unknown> {
  for (let number = 1; ; number += 1) {
    const startedAt = Date.now();
    const note = (error: AttemptTrace['error']): void => {
      const durationMs = Date.now() - startedAt;
      record.attempts.push({ startedAt: new Date(startedAt).toISOString(), durationMs, queries: run.queries, error });
    };
    try {
      const output = await attempt(number);
      note(null);
      return output;
    } catch (error) {
      // Not a failure: the run asks for another outcome, as by `context.ask`.
      if (!(error instanceof Error)) throw error;
      note(record.describe(error));
      signal.throwIfAborted();
      const verdict = classify(error);
      const delayMs = delayOf(number, verdict, baseMs);
      if (verdict.retryable !== true || number === MOST_ATTEMPTS || delayMs > LONGEST_WAIT_MS) throw error;
      record.retry({ attempt: number, error, verdict, delayMs });
      await pause(delayMs, signal);
    }
  }
}

function delayOf(attempt: number, { retryAfterMs = 0 }: ErrorVerdict, baseMs = BASE_MS): number {
  const jitter = Math.random() * Math.min(JITTER_MS, baseMs);
  return Math.max(retryAfterMs, Math.min(CAP_MS, Math.round(baseMs * 2 ** (attempt - 1) + jitter)));
}

/** Ends early, with its reason, where the run must end. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
  signal.throwIfAborted();
}
