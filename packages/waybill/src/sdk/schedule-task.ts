import { type CronRequest, checkNames, invalidField } from '@waybill/core';
import type { AnyTask, TaskInput } from '@waybill/worker';
import type { ScheduleRequest } from './schedule-request.ts';
import { TaskJob, type TaskJobOptions } from './task-job.ts';

/** What a schedule says beside its expression. */
export interface ScheduleOptions {
  /** @defaultValue the name of the task */
  name?: string;
  /** @defaultValue 'UTC' */
  timezone?: string;
  /** What to do while the job of the tick before has not finished. */
  overlap?: NonNullable<CronRequest['overlap_policy']>;
  /** What to do about ticks that passed while nothing ran. */
  misfire?: NonNullable<CronRequest['misfire_policy']>;
  catchUpLimit?: number;
  /** @defaultValue true */
  enabled?: boolean;
  description?: string;
  tenant?: string;
  /** What each job is enqueued with. */
  job?: TaskJobOptions;
}

export type ScheduleGiven<T> = [TaskInput<T>] extends [undefined]
  ? [input?: undefined, options?: ScheduleOptions]
  : [input: TaskInput<T>, options?: ScheduleOptions];

/** From the option to the field of the request. */
const FIELDS = {
  ...{ name: 'name', timezone: 'timezone', overlap: 'overlap_policy', misfire: 'misfire_policy' },
  ...{ catchUpLimit: 'catch_up_limit', enabled: 'enabled', description: 'description' },
} as const satisfies Partial<Record<keyof ScheduleOptions, keyof ScheduleRequest>>;
const NAMES = [...Object.keys(FIELDS), 'tenant', 'job'];

/** What `crons.put` takes, which checks the input of the task. */
export function scheduleOf(
  task: AnyTask,
  expression: unknown,
  input: unknown,
  options: ScheduleOptions = {},
): { request: ScheduleRequest; context: { tenant?: string } } {
  checkNames('schedule()', options, NAMES);
  if (typeof expression !== 'string')
    throw invalidField('expression', `must be a cron expression such as '0 9 * * *', not ${typeof expression}.`);
  const said = Object.entries(FIELDS).flatMap(([option, field]) => {
    const value = options[option as keyof typeof FIELDS];
    return value === undefined ? [] : [[field, value] as const];
  });
  const { tenant, job = {} } = options;
  const request = {
    name: task?.name,
    ...Object.fromEntries(said),
    expression,
    job_template: new TaskJob(task, input, job),
  };
  return { request: request as ScheduleRequest, context: tenant === undefined ? {} : { tenant } };
}
