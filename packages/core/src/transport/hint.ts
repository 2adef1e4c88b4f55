import type { Job } from '../job/job.ts';
import type { Json } from '../json.ts';
import type { Hint } from './transport.ts';

/** Hints for the jobs among these that can be claimed. Jobs that wait are hinted when they are ticked. */
export function hintsFor(jobs: readonly Job[]): Hint[] {
  return jobs.filter(({ rank }) => rank !== null).map(hintOf);
}

function hintOf({ tenant, id: jobId, queue, type, priority, attempt, spec: { meta } }: Job): Hint {
  const requestId = textOf(meta['request_id'] ?? meta['requestId']);
  const traceparent = textOf(meta['traceparent']);
  return {
    ...{ tenant, jobId, queue, type, priority, attempt, delayMs: 0 },
    ...(requestId !== undefined && { requestId }),
    ...(traceparent !== undefined && { traceparent }),
  };
}

const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);
