import { REASONS } from '../explain/codes.ts';
import type { Explanation, Reason } from '../waybill.ts';
import type { Caller } from './caller.ts';

const NARROWED = 'A key that is not narrowed to queues or types is told more.';

/** Jobs of one tenant wait for each other across queues and types; a narrowed caller is told only of those that it may see. */
export function explanationFor(explanation: Explanation, caller: Caller): Explanation {
  if (!caller.isNarrowed) return explanation;
  return { ...explanation, reasons: explanation.reasons.map((reason) => reasonFor(reason, caller)) };
}

function reasonFor(reason: Reason, caller: Caller): Reason {
  const message = REASONS[reason.code];
  if (message !== null) return { code: reason.code, message, hint: NARROWED, details: {} };
  const { jobs = [], ...rest } = reason;
  const shown = jobs.filter((job) => caller.sees(job));
  const hidden = jobs.length - shown.length + (reason.hidden ?? 0);
  return { ...rest, ...(shown.length > 0 && { jobs: shown }), ...(hidden > 0 && { hidden }) };
}
