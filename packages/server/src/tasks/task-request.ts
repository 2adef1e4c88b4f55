import { Fields, invalidField, isObject, type Json, type JsonObject, workflowProblems } from '@waybill/core';
import { type Faults, filled } from './faults.ts';
import { type AskedTask, nodeOf } from './task-node.ts';
import { fieldOf, inTaskWords } from './task-words.ts';
import { readWork, type TaskWork, WORK_NAMES } from './task-work.ts';

export const MAX_TASKS = 50;
const MAX_NAME = 255;
const TASK_ID = /^[a-zA-Z0-9_-]{1,128}$/;
const TASK_NAMES = ['taskId', 'name', 'dependsOn', 'input', 'priority', ...WORK_NAMES];

/** A task as it is sent. */
interface Draft {
  at: string;
  task: Omit<AskedTask, 'work'>;
  /** Undefined: a definition of its name says it. */
  work: TaskWork | undefined;
}

/** Finds the work of tasks that name a definition, by the names of these. */
export type FindWork = (
  names: readonly string[],
) => Promise<ReadonlyMap<string, Pick<AskedTask, 'work' | 'definitionVersion'>>>;

/** The list of a request, each task with its work. What is wrong with it is added to the faults. */
export async function readTasks(body: JsonObject, faults: Faults, find: FindWork): Promise<AskedTask[]> {
  const list = faults.of(() => listIn(body)) ?? [];
  const drafts = list.map((item, index) => readDraft(item, index, faults));
  const names = new Set(drafts.filter(({ work }) => work === undefined).map(({ task }) => task.name));
  const found = names.size === 0 ? new Map() : await find([...names].filter((name) => name !== ''));
  return drafts.map(({ at, task, work }) => {
    if (work !== undefined) return { ...task, work };
    const known = found.get(task.name);
    if (known !== undefined) return { ...task, ...known };
    if (task.name !== '') faults.add(`${at}.name`, noDefinition(at, task.name));
    return { ...task, work: readWork({}, at, faults) };
  });
}

const noDefinition = (at: string, name: string): string =>
  `'${at}.name': there is no task definition '${name}'. Create it, or send 'description' and 'tag', or 'type'.`;

function listIn(body: JsonObject): Json[] {
  const list = new Fields(body).array('tasks', { max: MAX_TASKS });
  if (list === undefined || list.length === 0) throw invalidField('tasks', 'must have at least one task.');
  return list;
}

function readDraft(item: Json, index: number, faults: Faults): Draft {
  const at = `tasks[${index}]`;
  // No task can have the name that stands in: what depends on others can be checked all the same.
  const standIn = { taskId: `task.${index}`, name: '', dependsOn: [], input: {} };
  const fields = faults.of(() => new Fields(item, at));
  if (fields === undefined || !isObject(item)) return { at, task: standIn, work: readWork({}, at, faults) };
  faults.unknownIn(item, TASK_NAMES, at);
  const priority = fields.value('priority');
  const task = {
    taskId: faults.of(() => taskIdIn(fields)) ?? standIn.taskId,
    name: faults.of(() => nameIn(fields)) ?? '',
    ...{ dependsOn: fields.value('dependsOn') ?? [], input: fields.value('input') ?? {} },
    ...(priority !== undefined && { priority }),
  };
  const said = WORK_NAMES.filter((name) => fields.has(name));
  if (said.includes('description') || said.includes('type')) {
    // An agent is told who it is and what to do; a task of a type of its own knows.
    if (!fields.has('type') && !fields.has('tag')) faults.of(() => fields.requiredString('tag'));
    return { at, task, work: readWork(item, at, faults) };
  }
  const [extra] = said;
  if (extra !== undefined)
    faults.add(
      `${at}.${extra}`,
      `'${at}.${extra}' comes from the task definition. Leave it out, or send 'description' too.`,
    );
  return { at, task, work: undefined };
}

function taskIdIn(fields: Fields): string {
  const id = fields.requiredString('taskId');
  if (TASK_ID.test(id)) return id;
  throw invalidField(fields.name('taskId'), 'must be 1 to 128 letters, digits, _ and -.');
}

function nameIn(fields: Fields): string {
  const name = filled(fields, 'name', MAX_NAME);
  if (name === undefined) throw invalidField(fields.name('name'), 'is required.');
  return name;
}

/**
 * The nodes of the tasks. Whatever the engine finds wrong with their graph is added to the faults; `existing` are ids of tasks
 * that are there already, and that others may depend on.
 */
export function nodesOf(
  tasks: readonly AskedTask[],
  faults: Faults,
  now: number,
  existing: readonly string[] = [],
): JsonObject[] {
  const nodes = tasks.map(nodeOf);
  if (nodes.length === 0) return nodes;
  const standIns = existing.map((id) => ({ id, type: 'a.b', args: [] }));
  for (const problem of workflowProblems({ nodes: [...standIns, ...nodes] }, now))
    faults.add(fieldOf(problem, standIns.length), inTaskWords(problem.message));
  return nodes;
}
