import { type Job, lastError } from '@waybill/core';

/** What operators are told of a job that has died; the row has the rest. */
export function deadMessage(job: Job): string {
  const error = lastError(job);
  return JSON.stringify({
    job_id: job.id,
    ...(job.tenant !== '' && { tenant: job.tenant }),
    type: job.type,
    queue: job.queue,
    worker_id: job.workerId,
    attempt: job.attempt,
    max_attempts: job.maxAttempts,
    error: error ? { code: error.code, message: error.message.slice(0, LONGEST_MESSAGE) } : null,
    time: new Date(job.finishedAt ?? job.createdAt).toISOString(),
  });
}

/** Far below what a message may carry, in whatever letters. */
const LONGEST_MESSAGE = 10_000;
