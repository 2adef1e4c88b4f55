import type { JobError } from '../job/job.ts';

const LONGEST = 300;

/** An error as a sentence of an explanation; the whole of it is in the job. */
export function errorText({ type, code, message }: Pick<JobError, 'type' | 'code' | 'message'>): string {
  const text = `${type ?? code}: ${message}`;
  const short = text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
  return /[.!?…]$/.test(short) ? short : `${short}.`;
}
