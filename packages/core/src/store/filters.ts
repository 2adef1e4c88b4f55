import type { LogEvent } from '../events/job-event.ts';
import { kindOf } from '../events/subject-event.ts';
import { type Job, lastError } from '../job/job.ts';
import { ALL_TENANTS, type EventFilter } from './event-log.ts';
import type { JobFilter } from './query.ts';

/** What a JobFilter means, for stores that look at whole rows. */
export function jobMatches(job: Job, filter: JobFilter): boolean {
  const error = lastError(job);
  return (
    job.tenant === filter.tenant &&
    (filter.idPrefix === undefined || job.id.startsWith(filter.idPrefix)) &&
    (filter.states?.includes(job.state) ?? true) &&
    (filter.queues?.includes(job.queue) ?? true) &&
    (filter.types?.includes(job.type) ?? true) &&
    (filter.dead === undefined || job.dead === filter.dead) &&
    (filter.workflowId === undefined || job.workflowId === filter.workflowId) &&
    (filter.errorType === undefined || error?.type === filter.errorType || error?.code === filter.errorType) &&
    (filter.createdAfter === undefined || job.createdAt > filter.createdAfter) &&
    (filter.createdBefore === undefined || job.createdAt < filter.createdBefore) &&
    (filter.finishedAfter === undefined || (job.finishedAt !== null && job.finishedAt > filter.finishedAfter)) &&
    (filter.finishedBefore === undefined || (job.finishedAt !== null && job.finishedAt < filter.finishedBefore))
  );
}

/** What an EventFilter means. */
export function eventMatches(event: LogEvent, { tenant, types, queues, jobIds }: EventFilter): boolean {
  if (tenant !== ALL_TENANTS && event.tenant !== tenant) return false;
  if (types && !types.includes(event.type)) return false;
  if (queues && !queues.includes(queueOf(event) ?? '')) return false;
  return !jobIds || (event.jobId !== undefined && jobIds.includes(event.jobId));
}

/** The queue of the job that an event is about, or the queue itself. */
export const queueOf = ({ type, queue, subject }: LogEvent): string | undefined =>
  kindOf(type) === 'queue' ? subject : queue;
