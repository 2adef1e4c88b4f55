import type { Json } from '@waybill/core';
import { describe } from '../../checked-json.ts';
import type { TaskContext } from '../../context.ts';
import type { AnyTask } from '../../task.ts';
import { LOADING } from '../loading.ts';

/** `isMade`: the input is what the schema of the task has made of it. */
export type Handler = (input: Json, context: TaskContext, isMade: boolean) => unknown;

/** The task of this name that the module exports, else its default export. */
export async function loadHandler(module: string, task: string): Promise<Handler> {
  const loading = globalThis as { [LOADING]?: string };
  loading[LOADING] = task;
  let exported: Record<string, unknown>;
  try {
    exported = (await import(module)) as Record<string, unknown>;
  } finally {
    delete loading[LOADING];
  }
  const found = Object.values(exported)
    .flat()
    .find((value): value is AnyTask => isTask(value, task));
  if (found !== undefined)
    return (input, context, isMade) => (isMade ? found.run(input, context) : validated(found, input, context));
  const { default: handler } = exported;
  if (typeof handler === 'function') return called(handler as Handler);
  throw new Error(
    `The module exports neither a task '${task}' nor a handler as its default. Export what task('${task}', ..) answers. (${module})`,
  );
}

/** Without its task a handler has no schema, so it takes only what the channel carries. */
const called =
  (handler: Handler): Handler =>
  (input, context, isMade) => {
    if (isMade) return handler(input, context, isMade);
    const message =
      'The schema of the task makes an input that is more than JSON, which a default export cannot be given.';
    throw new Error(`${message} Export what task() answers.`);
  };

/** The input has passed the schema in the worker; here it gives the handler what no channel carries, such as a Date. */
async function validated(task: AnyTask, input: unknown, context: TaskContext): Promise<unknown> {
  if (task.schema === undefined) return task.run(input, context);
  const answer = await task.schema['~standard'].validate(input);
  if (answer.issues === undefined) return task.run(answer.value, context);
  throw new Error(`Task '${task.name}' refuses its input: ${describe(answer.issues, 'input')}`);
}

/** By shape and not by class: the module may have another copy of the package. */
function isTask(value: unknown, name: string): boolean {
  const task = value as Partial<AnyTask> | null | undefined;
  return typeof task === 'object' && task !== null && task.name === name && typeof task.run === 'function';
}
