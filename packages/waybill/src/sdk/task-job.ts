import { invalidField, isObject, type JobOptions, type JobRequest } from '@waybill/core';
import {
  type AnyTask,
  type EnqueueOptions,
  requestFor,
  type TaskDefaults,
  type TaskInput,
  templateFor,
} from '@waybill/worker';
import { checkEnvelopeNames } from './envelope-names.ts';

/** What a job may be given that a schedule or a workflow makes: whether and when it comes to be is theirs to say. */
export type TaskJobOptions = Omit<EnqueueOptions, 'id' | 'idempotencyKey' | 'tenant' | 'within' | 'unique'>;

/** A job of a task that is not enqueued: a step of a workflow, a callback, or what a schedule makes at each tick. */
export class TaskJob {
  readonly task: AnyTask;
  readonly input: unknown;
  readonly options: TaskJobOptions;

  /** One item of a list is its input, which is not known yet: so it is not checked either. */
  readonly isItem: boolean;

  constructor(task: AnyTask, input: unknown, options: TaskJobOptions, isItem = false) {
    this.task = task;
    this.input = input;
    this.options = options;
    this.isItem = isItem;
  }
}

type Given<T> = [TaskInput<T>] extends [undefined]
  ? [input?: undefined, options?: TaskJobOptions]
  : [input: TaskInput<T>, options?: TaskJobOptions];

/** A job of a task for `workflows.create`, `workflows.addNodes` and `crons.put`, which check its input. */
export const jobOf = <T extends AnyTask>(task: T, ...[input, options = {}]: Given<T>): TaskJob =>
  new TaskJob(task, input, options);

/** A plain envelope without fields of its own, so that the compiler sees a misspelt one. */
export interface PlainJob {
  type: string;
  args: JobRequest['args'];
  meta?: NonNullable<JobRequest['meta']>;
  options?: KnownOptions;
}

type KnownOptions = { [Name in keyof JobOptions as string extends Name ? never : Name]: JobOptions[Name] } & {
  unique?: object;
  rate_limit?: object;
};

export type AnyJob = PlainJob | TaskJob;

const REFUSED = ['id', 'idempotencyKey', 'tenant', 'within', 'unique'] as const;

/** The envelope of a job, however it was written. A task's own `unique` has no meaning here, and is left out. */
export async function envelopeOf(job: unknown, root: string, defaults: TaskDefaults | undefined): Promise<unknown> {
  if (!(job instanceof TaskJob)) {
    refuseTask(job, root);
    if (isObject(job)) checkEnvelopeNames({ at: root }, job);
    return job;
  }
  const { task, input, options } = job;
  const wrong = REFUSED.find((name) => isObject(options) && name in options);
  if (wrong !== undefined) throw invalidField(`${root}.${wrong}`, 'has no meaning for a job that is made by others.');
  const { unique: _, ...policy } = task?.policy ?? {};
  const plain = task?.policy === undefined ? task : { ...task, policy };
  if (job.isItem) return templateFor(plain, options, defaults);
  return requestFor(plain, input, options, { root, defaults });
}

/** A task has a name where a job has a type, so the refusal of its fields would mislead. */
export function refuseTask(given: unknown, root: string): void {
  if (!isObject(given)) return;
  const { name, run, policy } = given as Record<string, unknown>;
  if (typeof run !== 'function' || policy === undefined) return;
  throw invalidField(root, `is the task '${name}' and not a job. Give jobOf(task, input).`);
}
