import { JOB_EVENTS, type JobEventType, type JobStatus } from '../event-types.ts';
import { appKey, scopedEntityKey, tenantKey, typeKey } from '../keys.ts';
import type { StoredEvent } from './event-item.ts';
import { cursorBehind, type EventQuery } from './event-query.ts';
import { isLater, type JobStatusInfo } from './states.ts';
import type { TaskQueries } from './task-queries.ts';

interface JobName {
  /** @defaultValue '' */
  tenant?: string;
  jobId: string;
}

export interface JobListQuery {
  /** @defaultValue '' */
  tenant?: string;
  app: string;
  status?: JobStatus;
  /** 1 to 100. @defaultValue 20 */
  limit?: number;
  cursor?: string;
}

export interface JobQueries {
  /** All events of a job as a whole, in order. Those of its tasks are not among them. */
  jobEvents(job: JobName): Promise<StoredEvent[]>;
  /** How it stands with a job, tasks that have failed so far included; null: there is no event of it. */
  jobStatus(job: JobName & { app: string }): Promise<JobStatusInfo | null>;
  /** Jobs, newest first. Pages are full, also where only one status is asked for. */
  jobs(query: JobListQuery): Promise<{ jobs: JobStatusInfo[]; cursor?: string }>;
}

const DEFAULT_LIMIT = 20;
const MOST_JOBS = 100;

export function jobQueries(query: EventQuery, { jobTasks }: Pick<TaskQueries, 'jobTasks'>): JobQueries {
  const jobEvents: JobQueries['jobEvents'] = async ({ tenant = '', jobId }) => {
    const partition = scopedEntityKey(tenant, 'JOB', encodeURIComponent(jobId));
    const events = await query.all({ index: 1, partition, prefix: 'JOB#' });
    return events.sort((a, b) => (isLater(a, b) ? 1 : -1));
  };

  const jobStatus: JobQueries['jobStatus'] = async ({ tenant = '', app, jobId }) => {
    const events = await jobEvents({ tenant, jobId });
    const [first, last] = [events[0], events.at(-1)];
    if (!first || !last) return null;
    const told = JOB_EVENTS[last.eventType as JobEventType];
    // It runs on although a task has failed: what does not depend on that goes on.
    const tasks = told === 'processing' ? await jobTasks({ tenant, app, jobId }) : [];
    const status = tasks.some(({ state }) => state === 'failed') ? 'partial_failure' : told;
    const total = last.properties['totalTasks'] ?? first.properties['totalTasks'];
    return { jobId, status, totalTasks: typeof total === 'number' ? total : null, createdAt: first.timestamp };
  };

  return {
    jobEvents,
    jobStatus,
    jobs: async ({ tenant = '', app, status, limit = DEFAULT_LIMIT, cursor }) => {
      const most = Math.min(Math.max(1, limit), MOST_JOBS);
      const place = {
        index: 6 as const,
        partition: typeKey('Job Created'),
        prefix: `${tenantKey(tenant)}#${appKey(app)}#`,
      };
      const jobs: JobStatusInfo[] = [];
      let last: StoredEvent | undefined;
      for await (const created of query.newest(place, {}, cursor)) {
        if (jobs.length === most) return { jobs, cursor: cursorBehind(last!, 6) };
        last = created;
        const info = await jobStatus({ tenant, app, jobId: created.properties.jobId ?? '' });
        if (info && (status === undefined || info.status === status)) jobs.push(info);
      }
      return { jobs };
    },
  };
}
