import { constants } from 'node:os';
import { isObject, type Job, type Json, lastError, type Waybill } from '@waybill/core';
import { refusalOf } from './report.ts';
import { oneLine } from './text-width.ts';

interface Exit {
  code: number;
  /** Why, where the code alone does not say it. */
  message?: string;
}

/** How the program of a job that has ended has ended, in the words of a shell. */
export async function exitOf({ jobs }: Waybill, { id }: Job): Promise<Exit> {
  let job: Job;
  try {
    job = await jobs.get(id);
  } catch (error) {
    // A queue may keep nothing of jobs that complete, and keeps those that fail.
    if (refusalOf(error).code !== 'not_found') throw error;
    return { code: 0, message: `job ${id} has ended, and its queue keeps no completed jobs.` };
  }
  if (job.state === 'completed') return { code: 0 };
  const error = lastError(job);
  const why = error === undefined ? '.' : `: ${oneLine(error.message)}`;
  const message = `job ${id} was ${job.state}${why}`;
  if (job.state === 'cancelled') return { code: 1, message };
  const details: Json | undefined = error?.details;
  const facts = isObject(details) ? details : {};
  const exit = facts['exit_code'];
  if (error?.code === 'nonzero' && typeof exit === 'number' && exit > 0) return { code: exit };
  const number = error?.code === 'signal' ? numberOf(facts['signal']) : undefined;
  return number === undefined ? { code: 1, message } : { code: 128 + number, message };
}

const numberOf = (signal: Json | undefined): number | undefined =>
  typeof signal === 'string' ? constants.signals[signal as NodeJS.Signals] : undefined;
