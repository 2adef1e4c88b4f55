import type { Json, JsonObject, Spending } from '@waybill/core';
import type { Answer, AskOptions, TaskContext } from '../context.ts';
import type { EnqueuedFromRun, RunEnqueueOptions } from '../enqueue-options.ts';
import { Ending } from '../execute/ending.ts';
import type { EmitOptions, LogOptions, OutputOptions } from '../journal/pending-entry.ts';
import type { TaskPolicy } from '../task-policy.ts';
import type { TypedTask } from '../typed-task.ts';
import type { FilePart, FileTransfer } from './file-transfer.ts';

/** What the process of a module calls of its run: what each call takes, and what it is answered. */
export interface ChildCalls {
  progress: { takes: { fraction: number; detail?: string | JsonObject }; answers: null };
  checkpoint: { takes: { state: JsonObject }; answers: null };
  /** Bytes as base64, here and below. */
  output: { takes: { bytes: string; options: OutputOptions }; answers: null };
  log: { takes: { message: string; fields: JsonObject; options: LogOptions }; answers: null };
  emit: { takes: { name: string; data?: Json; options: EmitOptions }; answers: null };
  spend: { takes: { amounts: Record<string, number>; key?: string }; answers: Spending };
  /** Answered by null where the run ends for it. */
  ask: { takes: AskOptions; answers: Answer | null };
  enqueue: { takes: EnqueueFromChild; answers: EnqueuedFromRun };
  /** A file comes in parts, one after another, and `isLast` says where it ends. */
  'file-put': { takes: { name: string; bytes: string; isLast: boolean }; answers: null };
  /** Null: there is no such file. */
  'file-get': { takes: { name: string; part: number }; answers: FilePart | null };
}

export type CallName = keyof ChildCalls;

/** A job as its child has prepared it: the schema of its task has let the input pass, and rules have been asked. */
export interface EnqueueFromChild {
  name: string;
  policy: Omit<TaskPolicy, 'unique' | 'limit'>;
  input?: Json;
  /** Moments as texts. */
  options: JsonObject;
}

/** What the calls of one run are made of. */
export interface CalledRun {
  context: TaskContext;
  files: FileTransfer;
}

type Handlers = {
  readonly [Name in CallName]: (
    given: ChildCalls[Name]['takes'],
    run: CalledRun,
  ) => ChildCalls[Name]['answers'] | Promise<ChildCalls[Name]['answers']>;
};

const bytesOf = (base64: string): Buffer => Buffer.from(base64, 'base64');

/** One entry for each call; the child has one method for each. */
const CALLS: Handlers = {
  progress: ({ fraction, detail }, { context }) => nothing(context.progress(fraction, detail)),
  checkpoint: ({ state }, { context }) => nothing(context.checkpoint(state)),
  output: ({ bytes, options }, { context }) => nothing(context.output(bytesOf(bytes), options)),
  log: ({ message, fields, options }, { context }) => nothing(context.log(message, fields, options)),
  emit: async ({ name, data, options }, { context }) => nothing(await context.emit(name, data, options)),
  spend: ({ amounts, key }, { context }) => context.spend(amounts, { key }),
  ask: (question, { context }) => answerOrEnd(context.ask(question)),
  enqueue: (job, { context }) => enqueued(job, context),
  'file-put': ({ name, bytes, isLast }, { files }) => files.put(name, bytesOf(bytes), isLast).then(nothing),
  'file-get': ({ name, part }, { files }) => files.get(name, part),
};

export const isCallName = (name: string): name is CallName => Object.hasOwn(CALLS, name);

export const callRun = async (name: CallName, given: unknown, run: CalledRun): Promise<Json> =>
  (await CALLS[name](given as never, run)) as unknown as Json;

const nothing = (_: unknown): null => null;

/** The run has ended for the question; the process ends when it learns that. */
async function answerOrEnd(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return { ...(await answer) };
  } catch (error) {
    if (error instanceof Ending) return null;
    throw error;
  }
}

/** The worker applies its defaults, and enqueues as for a handler of its own. */
async function enqueued({ name, policy, input, options }: EnqueueFromChild, context: TaskContext) {
  const task = { name, policy, schema: undefined, run: () => {} } as unknown as TypedTask<unknown>;
  const { delay, expires, ...rest } = options as RunEnqueueOptions & { delay?: number | string; expires?: string };
  return await context.enqueue(task, input, {
    ...rest,
    ...(delay !== undefined && { delay: typeof delay === 'string' ? new Date(delay) : delay }),
    ...(expires !== undefined && { expires: new Date(expires) }),
  });
}
