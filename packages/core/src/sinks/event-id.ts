import type { LogEvent } from '../events/job-event.ts';
import { kindOf } from '../events/subject-event.ts';

/** Made from the event's key, and the same as its CloudEvents id: so it is unique within a tenant and never changes. */
export function eventIdOf({ type, subject, jobId, source, sequence }: LogEvent): string {
  const name = subject === undefined ? jobId : `${kindOf(type)}_${encodeURIComponent(subject)}`;
  return `evt_${name}_${source}_${sequence}`;
}

/** Events with the same line are delivered one after the other. */
export const lineOf = ({ type, subject, jobId }: LogEvent): string =>
  subject === undefined ? `job:${jobId}` : `${kindOf(type)}:${subject}`;
