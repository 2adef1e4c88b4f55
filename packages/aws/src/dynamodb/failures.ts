import { setTimeout as delay } from 'node:timers/promises';
import { WaybillError } from '@waybill/core';
import { isSilence, noAnswer } from '../silence.ts';
import type { Timeouts } from '../timeouts.ts';

const THROTTLED = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'Throttling',
  'LimitExceededException',
]);

/** Somebody else writes the same items at this moment. */
const CONTENDED = new Set(['TransactionConflictException', 'TransactionInProgressException']);

/** The request may have taken effect or not. */
const UNCERTAIN = new Set(['InternalServerError', 'ServiceUnavailable', 'AbortError']);

/** With a clock that is far off the SDK notes its correction on every refusal, so the name must tell too. */
const MISDATED = new Set([
  'InvalidSignatureException',
  'SignatureDoesNotMatch',
  'RequestExpired',
  'RequestTimeTooSkewed',
]);

const REASONS_TO_WAIT = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

interface Failure {
  name?: string;
  $metadata?: { httpStatusCode?: number; clockSkewCorrected?: boolean };
  CancellationReasons?: { Code?: string }[];
}

/** `misdated`: signed with a time that AWS does not take; the SDK knows AWS's time from the refusal, and signs by it. */
export type FailureKind = 'throttled' | 'contended' | 'uncertain' | 'misdated' | 'final';

export function kindOf(reason: unknown): FailureKind {
  const { name = '', $metadata, CancellationReasons } = reason as Failure;
  if (THROTTLED.has(name)) return 'throttled';
  if (CONTENDED.has(name)) return 'contended';
  if (name === 'TransactionCanceledException') {
    const codes = (CancellationReasons ?? []).map(({ Code }) => Code ?? 'None');
    // A condition that failed is an answer, whatever else was in the way.
    if (codes.includes('ConditionalCheckFailed')) return 'final';
    if (codes.some((one) => one.startsWith('Thrott') || one.startsWith('Provisioned'))) return 'throttled';
    return codes.some((one) => REASONS_TO_WAIT.has(one)) ? 'contended' : 'final';
  }
  if (MISDATED.has(name) && $metadata?.clockSkewCorrected) return 'misdated';
  if (isSilence(reason) || UNCERTAIN.has(name) || ($metadata?.httpStatusCode ?? 0) >= 500) return 'uncertain';
  return 'final';
}

const TRIES = 9;
const FIRST_DELAY_MS = 20;
const LONGEST_DELAY_MS = 1000;

/** With jitter, so that those who collided do not meet again. */
const pauseMs = (round: number): number => Math.random() * Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** round);

export const pause = (round: number): Promise<void> => delay(pauseMs(round));

/**
 * Makes a request again while that may help, at most a few times and only while another try ends within the call's time.
 * Tells when it may have taken effect already.
 */
export async function withPatience<T>(
  request: () => Promise<T>,
  { requestMs, callMs }: Timeouts,
  onUncertain?: () => void,
): Promise<T> {
  const latest = performance.now() + callMs - requestMs;
  for (let round = 0; ; round++) {
    try {
      return await request();
    } catch (reason) {
      const kind = kindOf(reason);
      if (kind === 'final') throw reason;
      if (kind === 'uncertain') onUncertain?.();
      const waitMs = pauseMs(round);
      if (round + 1 >= TRIES || performance.now() + waitMs > latest) throw exhausted(kind, reason);
      await delay(waitMs);
    }
  }
}

function exhausted(kind: FailureKind, cause: unknown): WaybillError {
  if (kind === 'uncertain') return noAnswer('DynamoDB', cause);
  if (kind === 'misdated') {
    const hint = 'Let NTP set the clock of this machine.';
    return new WaybillError('unavailable', 'DynamoDB refuses the time that requests are signed with.', { cause, hint });
  }
  return new WaybillError('resource_exhausted', 'DynamoDB refused the request again and again: it is overloaded.', {
    cause,
    hint: 'Spread the load over more shards, or raise the capacity of the table and its indexes.',
  });
}

/** Tries of a compare-and-set that somebody else was faster at, before it is given up. */
export const MOST_TRIES = 30;

/** A compare-and-set that never got its turn, though every request was answered. */
export const tooContended = (what: string): WaybillError =>
  new WaybillError('resource_exhausted', `${what} is changed by too many at once.`);
