import type { Json } from '../json.ts';

/** A failure as a worker reports it; the engine adds attempt, run and time. */
export interface ErrorInput {
  code: string;
  message: string;
  type?: string;
  retryable?: boolean;
  /** Milliseconds that must pass before another attempt, as a service said. Beyond a day it counts as a day. */
  retryAfterMs?: number;
  details?: Json;
}

/** Code of the error that a worker hands a job back with when it has no task for the job's type. */
export const UNKNOWN_TYPE = 'unknown_type';

/** What a worker says its run came to. The closed set of answers a handler can give. */
export type Outcome =
  | { kind: 'completed'; result: Json | null }
  | { kind: 'failed'; error: ErrorInput }
  /** Try again at a given time; counts neither as failure nor as attempt. */
  | { kind: 'snoozed'; until: number }
  /** Nothing here can run the job, and another worker may. Counts as little; the engine says when to try again. */
  | { kind: 'snoozed'; error: ErrorInput }
  /** Hand the job back untouched; the attempt is not consumed. */
  | { kind: 'requeued'; error?: ErrorInput }
  | { kind: 'cancelled'; reason?: string }
  /** Give up now. `deadLetter` overrides what the retry policy says about keeping it. */
  | { kind: 'discarded'; error: ErrorInput; deadLetter?: boolean };
