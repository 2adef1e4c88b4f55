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
  logger[isMeant ? 'info' : 'warn'](told, failureLine(job, reasonOf(error)));
}

/** With the cause, which often is all that explains it: `fetch failed` says nothing by itself. */
function reasonOf({ message, details }: ErrorInput): string {
  const cause = textIn(details, 'cause');
  return cause === undefined ? message : `${message} (cause: ${cause})`;
}

/** The first line of the stack that has a place in the code of the handler, and not of Node. */
function placeOf({ details }: ErrorInput): string | undefined {
  const frames = textIn(details, 'stack')?.matchAll(/^\s+at (?:.*\()?(.+?:\d+:\d+)\)?$/gm) ?? [];
  return [...frames].map(([, place]) => place!).find((place) => !place.startsWith('node:'));
}

function textIn(details: ErrorInput['details'], name: string): string | undefined {
  if (typeof details !== 'object' || details === null || !(name in details)) return undefined;
  const value = (details as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : undefined;
}
