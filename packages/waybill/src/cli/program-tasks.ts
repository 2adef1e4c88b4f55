import { isObject, type Json, WaybillError } from '@waybill/core';
import { type AnyTask, type StandardSchemaV1, type Task, task } from '@waybill/worker';
import { EXEC_QUEUE, EXEC_TYPE, type ExecInput } from './exec-job.ts';
import { type ProgramLimits, type ProgramValues, readLimits } from './program-options.ts';
import { queueNames } from './worker-queues.ts';

/** As that of a job which names none. */
const DEFAULT_QUEUE = 'default';

/** The tasks that flags make. `others`: those of a module, which run beside them. */
export function programTasks(values: ProgramValues & { queues?: string }, others: readonly AnyTask[]): AnyTask[] {
  const { command, type, exec, queues } = values;
  const limits = readLimits(values);
  const programs: AnyTask[] = [];
  if (command !== undefined && type !== undefined) {
    const queue = queueFor('--command', DEFAULT_QUEUE, queues, others);
    const isolate = { ...limits, command: ['/bin/sh', '-c', command] as const };
    programs.push(task<Json>(type, { queue, isolate }) as Task as AnyTask);
  }
  if (exec) programs.push(execTask(queueFor('--exec', EXEC_QUEUE, queues, others), limits));
  return programs;
}

/** A queue has one runner, so programs take no queue of a task that runs in the process of the worker. */
function queueFor(flag: string, usual: string, queues: string | undefined, others: readonly AnyTask[]): string {
  const taken = others
    .filter(({ isolate }) => isolate === undefined)
    .map(({ policy }) => policy.queue ?? DEFAULT_QUEUE);
  const named = queues === undefined ? [usual] : queueNames(queues);
  const free = named.filter((name) => !taken.includes(name));
  if (free.includes(usual)) return usual;
  if (free[0] !== undefined) return free[0];
  const message = `Tasks of the module run in the process of the worker and take queue '${named[0]}', so ${flag} needs another one.`;
  throw new WaybillError('invalid_request', message, {
    hint: `Name both, like --queues ${taken[0]},programs, and enqueue the jobs of ${flag} in the second.`,
  });
}

const INPUT: StandardSchemaV1<ExecInput> = {
  '~standard': {
    version: 1,
    vendor: 'waybill',
    validate: (value) => {
      const problem = problemOf(value);
      return problem === null ? { value: value as ExecInput } : { issues: [problem] };
    },
  },
};

/** Any producer of the queue may have written it. */
function problemOf(value: unknown): { message: string; path?: string[] } | null {
  if (!isObject(value)) return { message: 'must be an object with the field command' };
  const { command, cwd } = value;
  if (!Array.isArray(command) || command.some((part) => typeof part !== 'string') || !command[0])
    return { message: 'must be a list of the program and its arguments, like ["npm", "test"]', path: ['command'] };
  if (cwd === undefined || (typeof cwd === 'string' && cwd !== '')) return null;
  return { message: 'must be the path of a folder', path: ['cwd'] };
}

/** Runs the program that a job names. */
const execTask = (queue: string, limits: ProgramLimits): AnyTask =>
  task(EXEC_TYPE, {
    ...{ input: INPUT, queue },
    isolate: {
      ...limits,
      // Its own arguments are nothing for the stdin of the program.
      command: ({ command, cwd, input = null }: ExecInput) => ({ command, input, ...(cwd !== undefined && { cwd }) }),
    },
  }) as Task as AnyTask;
