import { type Job, lastError, UNKNOWN_TYPE } from '@waybill/core';
import type { Context } from '../context.ts';
import { refusalOf } from '../report.ts';
import { type Check, isMissing } from './check.ts';

const name = 'tasks';
const PAGE = 1_000;
/** A page may be empty although there are more jobs; a look must end all the same. */
const MOST_PAGES = 10;

/** Jobs that workers have handed back because they have no task for them. Without any, there is nothing to say. */
export async function checkTasks(context: Context, store: readonly Check[]): Promise<Check[]> {
  if (store.some(isMissing)) return [];
  try {
    const { jobs, isMore } = await unknownJobs(context);
    const [newest] = jobs;
    if (newest === undefined) return [];
    const types = new Set(jobs.map(({ type }) => type));
    const count = `${jobs.length}${isMore ? ' or more jobs' : jobs.length === 1 ? ' job' : ' jobs'}`;
    const message = `${count} of ${types.size === 1 ? '1 type' : `${types.size} types`} handed back, newest ${newest.id} ${newest.type} in queue ${newest.queue}: ${lastError(newest)!.message}`;
    const hint =
      'Start a worker that has this task. If the type is mistyped, enqueue the job anew and cancel this one.';
    return [{ name, status: 'warn', message, hint }];
  } catch (error) {
    return [{ name, status: 'warn', message: `the jobs cannot be listed: ${refusalOf(error).message}` }];
  }
}

async function unknownJobs(context: Context): Promise<{ jobs: Job[]; isMore: boolean }> {
  const waybill = await context.connect({ transport: 'poll' });
  const filter = { states: ['retryable' as const], errorType: UNKNOWN_TYPE };
  const found: Job[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES && found.length < PAGE; page += 1) {
    const answer = await waybill.jobs.list({ filter, limit: PAGE, ...(cursor !== undefined && { cursor }) });
    // A worker that knew the job has snoozed it since where the last run is another one.
    found.push(...answer.items.filter((job) => lastError(job)?.run === job.run));
    cursor = answer.cursor;
    if (cursor === undefined) break;
  }
  return { jobs: found, isMore: cursor !== undefined };
}
