import { WaybillError, type WorkflowProblem } from '@waybill/core';
import type { Ctx } from '../http/env.ts';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const ID_PREFIX = 'job-';

/** A job of tasks is a workflow; its id says which of the two it is meant as. */
export const jobIdOf = (workflowId: string): string => `${ID_PREFIX}${workflowId}`;

/** The workflow of a job; null where no job can have this id. */
export function workflowIdOf(jobId: string): string | null {
  return new RegExp(`^${ID_PREFIX}${UUID}$`).test(jobId) ? jobId.slice(ID_PREFIX.length) : null;
}

/** Fields of a node, and how a task is sent. */
const FIELDS: readonly (readonly [node: string, task: string])[] = [
  ['depends_on', 'dependsOn'],
  ['options.timeout_ms', 'timeoutMs'],
  ['options.retry.max_attempts', 'maxAttempts'],
  ['options.queue', 'queue'],
  ['options.priority', 'priority'],
  ['args', 'input'],
  ['id', 'taskId'],
];

/** `nodes[1].depends_on[0]` as `tasks[1].dependsOn[0]`. */
function fieldInTaskWords(field: string): string {
  const [, list = '', at = '', name = ''] = /^(?:(nodes)((?:\[\d+\])?)(?:\.|$))?(.*)$/s.exec(field)!;
  const known = FIELDS.find(([node]) => name === node || name.startsWith(`${node}[`) || name.startsWith(`${node}.`));
  const own = known === undefined ? name : `${known[1]}${name.slice(known[0].length)}`;
  const place = list === '' ? '' : `tasks${at}`;
  return place === '' || own === '' ? `${place}${own}` : `${place}.${own}`;
}

const WORDS: readonly (readonly [pattern: RegExp, word: string])[] = [
  [new RegExp(`\\bWorkflow (?=${UUID})`, 'g'), `Job ${ID_PREFIX}`],
  [new RegExp(`\\bworkflow (?=${UUID})`, 'g'), `job ${ID_PREFIX}`],
  ...(['Workflow', 'workflow'] as const).map(
    (word) => [new RegExp(`\\b${word}`, 'g'), `${word[0] === 'W' ? 'J' : 'j'}ob`] as const,
  ),
  ...(['Node', 'node'] as const).map(
    (word) => [new RegExp(`\\b${word}`, 'g'), `${word[0] === 'N' ? 'T' : 't'}ask`] as const,
  ),
];

/** What the engine says of workflows and nodes, in the words of jobs and tasks. What stands in quotes is a field or a name. */
export const inTaskWords = (text: string): string =>
  text
    .split(/('[^']*')/)
    .map((part) =>
      part.startsWith("'")
        ? `'${fieldInTaskWords(part.slice(1, -1))}'`
        : WORDS.reduce((said, [pattern, word]) => said.replace(pattern, word), part),
    )
    .join('');

/** Where a problem of a graph is, `before` nodes not being part of the request. */
export function fieldOf({ path }: WorkflowProblem, before: number): string {
  const [, index, ...rest] = path;
  if (typeof index !== 'number') return 'tasks';
  const name = rest.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return fieldInTaskWords(`nodes[${index - before}]${name}`);
}

/** Runs a route; whatever the engine refuses is told in the words of this interface. */
export const inWords =
  (route: (c: Ctx) => Promise<Response>) =>
  async (c: Ctx): Promise<Response> => {
    try {
      return await route(c);
    } catch (reason) {
      throw translated(WaybillError.from(reason));
    }
  };

function translated(error: WaybillError): WaybillError {
  const { code, message, hint, details, cause } = error;
  if (code === 'internal') return error;
  const { workflow_id: workflow, node, field, ...others } = details ?? {};
  return new WaybillError(code, inTaskWords(message), {
    ...(hint !== undefined && { hint: inTaskWords(hint) }),
    ...(details !== undefined && {
      details: {
        ...others,
        ...(typeof field === 'string' && { field: fieldInTaskWords(field) }),
        ...(typeof workflow === 'string' && { jobId: jobIdOf(workflow) }),
        ...(node !== undefined && { taskId: node }),
      },
    }),
    cause,
  });
}
