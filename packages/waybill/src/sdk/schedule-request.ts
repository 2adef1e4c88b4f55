import { type CronRequest, checkNames } from '@waybill/core';
import type { TaskDefaults } from '@waybill/worker';
import { type AnyJob, envelopeOf } from './task-job.ts';

type Known = { [Name in keyof CronRequest as string extends Name ? never : Name]: CronRequest[Name] };

/** A schedule; see docs/schedules.md. */
export interface ScheduleRequest extends Omit<Known, 'job_template'> {
  /** Means the same as `expression`. */
  cron?: string;
  /** `jobOf(task, input)`, or a plain job. */
  job_template?: AnyJob;
}

const NAMES: Readonly<Record<keyof ScheduleRequest, true>> = {
  ...{ name: true, expression: true, cron: true, timezone: true, overlap_policy: true, misfire_policy: true },
  ...{ catch_up_limit: true, enabled: true, description: true, job_template: true },
};
/** The job's fields may stand beside the schedule's. */
const BESIDE = ['type', 'args', 'meta', 'options'];

/** Checks the names in it, and the input of its task. What is left is the engine's to check. */
export async function plainSchedule(request: unknown, defaults: TaskDefaults | undefined): Promise<CronRequest> {
  checkNames('A schedule', request, [...Object.keys(NAMES), ...BESIDE]);
  const { job_template, ...schedule } = request as CronRequest;
  if (job_template === undefined) return schedule as CronRequest;
  return { ...schedule, job_template: (await envelopeOf(job_template, 'job_template', defaults)) as never };
}
