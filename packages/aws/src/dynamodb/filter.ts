import { type Job, type JobFilter, lastError } from '@waybill/core';

/** Whether a row is what was asked for. Indexes narrow by tenant, queue and workflow; the rest is looked up in rows. */
export function matches(job: Job, filter: JobFilter): boolean {
  const error = lastError(job);
  const { states, queues, types, dead, workflowId, errorType } = filter;
  return (
    (states?.includes(job.state) ?? true) &&
    (queues?.includes(job.queue) ?? true) &&
    (types?.includes(job.type) ?? true) &&
    (dead === undefined || job.dead === dead) &&
    (workflowId === undefined || job.workflowId === workflowId) &&
    (errorType === undefined || error?.type === errorType || error?.code === errorType) &&
    isBetween(job.createdAt, filter.createdAfter, filter.createdBefore) &&
    isBetween(job.finishedAt, filter.finishedAfter, filter.finishedBefore)
  );
}

function isBetween(moment: number | null, after: number | undefined, before: number | undefined): boolean {
  if (after === undefined && before === undefined) return true;
  if (moment === null) return false;
  return (after === undefined || moment > after) && (before === undefined || moment < before);
}
