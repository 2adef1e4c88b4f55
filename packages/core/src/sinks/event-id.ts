import type { LogEvent } from '../events/job-event.ts';
import { kindOf } from '../events/subject-event.ts';
import { ALL_TENANTS } from '../store/event-log.ts';
import type { Sink } from './sink.ts';

/** Made from the event's key, and the same as its CloudEvents id: so it is unique within a tenant and never changes. */
export function eventIdOf({ type, subject, jobId, source, sequence }: LogEvent): string {
  const name = subject === undefined ? jobId : `${kindOf(type)}_${encodeURIComponent(subject)}`;
  return `evt_${name}_${source}_${sequence}`;
}

const JOB = 'job:';
const UUID_LENGTH = 36;

/** Whose events a sink reads. */
export const tenantOf = ({ tenant, of }: Pick<Sink, 'tenant' | 'of'>): string => of ?? tenant;

/** Names the line of an event. Events with the same line are delivered one after the other. */
export type LineOf = (event: LogEvent) => string;

/** Two tenants may have jobs with the same id, so lines have the tenant in them where there are several. */
export const linesOf = ({ of }: Pick<Sink, 'of'>): LineOf =>
  of === ALL_TENANTS ? (event) => `${lineOf(event)}@${event.tenant}` : lineOf;

const lineOf: LineOf = ({ type, subject, jobId }) =>
  subject === undefined ? `${JOB}${jobId}` : `${kindOf(type)}:${subject}`;

/** The job that the events of a line are about; undefined: it is a line of something else. */
export const jobInLine = (line: string): string | undefined =>
  line.startsWith(JOB) ? line.slice(JOB.length, JOB.length + UUID_LENGTH) : undefined;
