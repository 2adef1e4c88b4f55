import { type ErrorInput, failureLine, type Job, type Logger, type Outcome } from '@waybill/core';

export type Failure = Extract<Outcome, { kind: 'failed' | 'discarded' }>;

export const isFailure = (outcome: Outcome): outcome is Failure =>
  outcome.kind === 'failed' || outcome.kind === 'discarded';

/** One line for a run that failed, with the place in the handler's code. What a handler discards itself is no failure. */
export function tellFailure(job: Job, fields: object, outcome: Failure, logger: Logger): void {
  const { error } = outcome;
  const isMeant = outcome.kind === 'discarded' && error.code === 'discarded';
  const at = placeOf(error);
  const told = { ...fields, attempt: job.attempt, error, ...(at !== undefined && { at }) };
  logger[isMeant ? 'info' : 'warn'](told, failureLine(job, error.message));
}

/** The first line of the stack that has a place. */
function placeOf({ details }: ErrorInput): string | undefined {
  const stack = typeof details === 'object' && details !== null && 'stack' in details ? details['stack'] : undefined;
  if (typeof stack !== 'string') return undefined;
  return /^\s+at (?:.*\()?(.+?:\d+:\d+)\)?$/m.exec(stack)?.[1];
}
