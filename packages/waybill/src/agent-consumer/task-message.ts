import type { Adopt, NotAdopted } from '@waybill/aws/sqs';
import { isObject, type JobOptions, type Json, type JsonObject, type RetryOptions } from '@waybill/core';
import type { AnyTask, StandardSchemaV1 } from '@waybill/worker';
import type { AgentConsumerSettings } from './settings.ts';

/** What a task of the preset gets: the body of a message, and the attribute `requestId` beside it. */
export interface TaskMessage {
  requestId: string;
  /** Unique in its job only. */
  taskId: string;
  jobId?: string;
  name: string;
  input: Json;
  /** Results of the tasks before it, by their ids. */
  dependencyOutputs: JsonObject;
  /** Whatever else the producer sends. */
  [other: string]: unknown;
}

/** The job queue of the preset. */
export const QUEUE = 'agent-tasks';

const ID = /^[a-zA-Z0-9_-]{1,256}$/;
const ID_RULE = 'must be 1 to 256 letters, digits, _ and -';

interface Problem {
  message: string;
  path?: string[];
}

function problemsOf(value: unknown): Problem[] {
  if (!isObject(value)) return [{ message: 'must be an object with requestId, taskId and name' }];
  const problems: Problem[] = [];
  const id = (name: string) => {
    if (typeof value[name] !== 'string' || !ID.test(value[name])) problems.push({ message: ID_RULE, path: [name] });
  };
  id('requestId');
  id('taskId');
  if (value['jobId'] !== undefined && value['jobId'] !== null) id('jobId');
  if (typeof value['name'] !== 'string' || value['name'].trim() === '')
    problems.push({ message: 'must be a text', path: ['name'] });
  const outputs = value['dependencyOutputs'];
  if (outputs !== undefined && outputs !== null && !isObject(outputs))
    problems.push({ message: 'must be an object of results by task', path: ['dependencyOutputs'] });
  return problems;
}

/** Without `null` for what is not there, which some producers write. */
function plain(value: unknown): TaskMessage {
  const { input = null, dependencyOutputs, jobId, ...rest } = value as TaskMessage;
  return { ...rest, ...(jobId != null && { jobId }), input, dependencyOutputs: dependencyOutputs ?? {} };
}

/** The input of every task of the preset. A message that breaks its rules is a job that fails for good when it is claimed. */
export const TASK_MESSAGE: StandardSchemaV1<TaskMessage> = {
  '~standard': {
    version: 1,
    vendor: 'waybill',
    validate: (value) => {
      const issues = problemsOf(value);
      return issues.length > 0 ? { issues } : { value: plain(value) };
    },
  },
};

/** The rules of the preset first, then those of the task itself. */
export function checkedFirst(schema: StandardSchemaV1 | undefined): StandardSchemaV1 {
  if (schema === undefined) return TASK_MESSAGE;
  const validate: StandardSchemaV1['~standard']['validate'] = (value) => {
    const issues = problemsOf(value);
    return issues.length > 0 ? { issues } : schema['~standard'].validate(plain(value));
  };
  return { '~standard': { version: 1, vendor: 'waybill', validate } };
}

/**
 * What holds for each job of the preset. A run that its worker ends for its time is final, and any other failure is tried again,
 * unless the policy of the task says otherwise.
 */
export const jobOptions = (
  { policy: { retry } = {} }: Partial<Pick<AnyTask, 'policy'>>,
  { maxAttempts, timeoutMs }: AgentConsumerSettings,
): JobOptions & { retry: RetryOptions } => ({
  queue: QUEUE,
  timeout_ms: timeoutMs,
  retry: { on_exhaustion: 'dead_letter', non_retryable_errors: ['timeout'], ...retry, max_attempts: maxAttempts },
});

/**
 * Reads messages that name no type: each becomes a job of the preset's task, once for each request of a job. Every message
 * becomes a job, so that the log tells of those that are refused, too, and they go away.
 */
export function adoptTaskMessages(
  { name, ...task }: Pick<AnyTask, 'name'> & Partial<Pick<AnyTask, 'policy'>>,
  settings: AgentConsumerSettings,
): Adopt {
  const options = jobOptions(task, settings);
  return (body, attributes, messageId): Exclude<ReturnType<Adopt>, NotAdopted | null> => {
    const requestId = attributes['requestId'];
    const input = isObject(body) ? { ...body, ...(requestId !== undefined && { requestId }) } : (body ?? null);
    // One that is refused has no name to go by but that of its message.
    if (problemsOf(input).length > 0)
      return { id: `message:${messageId}`, request: { type: name, args: [input as Json], options } };
    const message = plain(input);
    const meta = { requestId: message.requestId };
    return { id: nameOf(message), request: { type: name, args: [message as unknown as Json], meta, options } };
  };
}

/** A request may come again in another job. */
export const nameOf = ({ requestId, jobId }: TaskMessage): string =>
  jobId === undefined ? requestId : `${jobId}/${requestId}`;

/** Marks the output of a run in the log of its worker. */
export function labelOf({ id, spec }: { id: string; spec: { args: readonly Json[] } }): string {
  const [input] = spec.args;
  const requestId = isObject(input) ? input['requestId'] : undefined;
  return `WORKFLOW:${typeof requestId === 'string' && ID.test(requestId) ? requestId : id}`;
}
