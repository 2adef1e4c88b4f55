import { WaybillError } from '../errors.ts';
import type { Job } from './job.ts';

/**
 * A lease token names one run of one job: `<run>.<claim id>`, and behind it the receipt of the message that brought
 * the job, where there is one. Opaque to workers; the row holds run and claim id, so the token needs no column.
 */
export interface LeaseToken {
  run: number;
  claimId: string;
  receipt?: string;
}

export function formatToken({ run, claimId, receipt }: LeaseToken): string {
  return receipt === undefined ? `${run}.${claimId}` : `${run}.${claimId}.${receipt}`;
}

/** The jobs of a claim have one token between them, and are settled one after the other. */
let last: { text: string; token: LeaseToken } | undefined;

const MOST_RUNS = 2 ** 31 - 1;
const TOKEN = /^([1-9][0-9]{0,14})\.([0-9A-Za-z_-]{1,64})(?:\.(.+))?$/s;

export function parseToken(text: string): Readonly<LeaseToken> {
  if (last?.text === text) return last.token;
  const match = TOKEN.exec(text);
  // No job has so many runs, and no database could compare the number.
  if (!match || Number(match[1]) > MOST_RUNS)
    throw new WaybillError('lease_lost', 'The lease token was not made by this system.');
  const [, run, claimId, receipt] = match;
  const token = { run: Number(run), claimId: claimId! };
  if (receipt !== undefined) return { ...token, receipt };
  last = { text, token };
  return token;
}

/** Whether a text has the form of a token; it may still be of no run that there ever was. */
export const hasTokenForm = (text: string): boolean => TOKEN.test(text);

/** The token of the job's current run, or undefined when it has none. */
export function tokenOf(job: Job): string | undefined {
  if (job.state !== 'active' || job.claimId === null) return undefined;
  return formatToken({ run: job.run, claimId: job.claimId });
}

export const holdsLease = (job: Job, token: LeaseToken): boolean =>
  job.state === 'active' && job.run === token.run && job.claimId === token.claimId;
