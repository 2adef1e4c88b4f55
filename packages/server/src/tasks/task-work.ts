import { Fields, invalidField, isObject, type Job, type Json, type JsonObject } from '@waybill/core';
import { type Faults, filled } from './faults.ts';

/** What a task does and how: said by the task itself, or by the definition that it names. */
export interface TaskWork {
  /** Of the job that does it. */
  type: string;
  queue: string;
  /** How long a run may take. */
  timeoutMs?: number;
  maxAttempts?: number;
  /** Whether somebody looks at the output before the tasks behind it start. */
  requiresReview?: true;
  /** What the handler is told beside the input; it decides what each of these means. */
  told: JsonObject;
}

/** Of tasks that name no type. The agent consumer works on it. */
export const AGENT_TYPE = 'agent.task';
const AGENT_QUEUE = 'agent-tasks';
const DEFAULT_QUEUE = 'default';

/** The engine holds these to its own rules. */
export const ENGINE_NAMES = ['type', 'queue', 'timeoutMs', 'maxAttempts'] as const;
const TOLD_NAMES = ['description', 'tag', 'repo', 'allowedTools', 'maxTurns', 'model', 'feedbackCommands'] as const;
/** Every field of the work, as it is sent. */
export const WORK_NAMES: readonly string[] = [...ENGINE_NAMES, 'requiresReview', ...TOLD_NAMES];

const MAX_DESCRIPTION = 50_000;
const MAX_TEXT = 2_048;
const MAX_NAME = 255;
const MAX_TOOLS = 100;
const MAX_TURNS = 200;
const COMMANDS = ['lint', 'typecheck', 'test'] as const;

/** What the handler is told; the fields for the engine are taken as they are, and checked with the job that they make. */
export function readWork(item: JsonObject, at: string, faults: Faults): TaskWork {
  const fields = new Fields(item, at);
  const told = (name: string, read: () => Json | undefined): JsonObject => {
    const value = faults.of(read);
    return value === undefined ? {} : { [name]: value };
  };
  const requiresReview = faults.of(() => fields.boolean('requiresReview'));
  return {
    ...engineFieldsOf(item),
    ...(requiresReview && { requiresReview }),
    told: {
      ...told('description', () => filled(fields, 'description', MAX_DESCRIPTION)),
      ...told('tag', () => filled(fields, 'tag', MAX_NAME)),
      ...told('repo', () => filled(fields, 'repo', MAX_TEXT)),
      ...told('allowedTools', () => toolsIn(fields)),
      ...told('maxTurns', () => fields.integer('maxTurns', { min: 1, max: MAX_TURNS })),
      ...told('model', () => filled(fields, 'model', MAX_NAME)),
      ...told('feedbackCommands', () => commandsIn(fields)),
    },
  };
}

function engineFieldsOf(item: JsonObject): Omit<TaskWork, 'told'> {
  const { type, queue, timeoutMs, maxAttempts } = item as Partial<TaskWork>;
  return {
    type: type ?? AGENT_TYPE,
    queue: queue ?? (type == null ? AGENT_QUEUE : DEFAULT_QUEUE),
    ...(timeoutMs != null && { timeoutMs }),
    ...(maxAttempts != null && { maxAttempts }),
  };
}

function toolsIn(fields: Fields): string[] | undefined {
  const tools = fields.strings('allowedTools', { max: MAX_TOOLS });
  const empty = tools?.findIndex((tool) => tool.trim() === '' || tool.length > MAX_NAME) ?? -1;
  if (empty < 0) return tools;
  throw invalidField(`${fields.name('allowedTools')}[${empty}]`, `must have 1 to ${MAX_NAME} characters.`);
}

function commandsIn(fields: Fields): JsonObject | undefined {
  const commands = fields.fields('feedbackCommands');
  if (commands === undefined) return undefined;
  commands.refuseUnknown(COMMANDS);
  const found = COMMANDS.flatMap((name) => {
    const command = filled(commands, name, MAX_TEXT);
    return command === undefined ? [] : [[name, command] as const];
  });
  return Object.fromEntries(found);
}

/** The work as a definition has it, and as a reader is shown it. */
export const workToWire = ({ type, queue, timeoutMs, maxAttempts, requiresReview, told }: TaskWork): JsonObject => ({
  ...{ type, queue, requiresReview: requiresReview ?? false },
  ...(timeoutMs !== undefined && { timeoutMs }),
  ...(maxAttempts !== undefined && { maxAttempts }),
  ...told,
});

/** The work of a task that is there, as its producer or its definition has said it. */
export function workOf({ type, queue, timeoutMs, spec }: Job): TaskWork {
  const input = inputOf(spec);
  const told = Object.fromEntries(TOLD_NAMES.filter((name) => name in input).map((name) => [name, input[name]!]));
  const maxAttempts = spec.retry?.max_attempts;
  return {
    ...{ type, queue, told },
    ...(timeoutMs !== null && { timeoutMs }),
    ...(maxAttempts !== undefined && { maxAttempts }),
    ...(input['requiresReview'] === true && { requiresReview: true }),
  };
}

/** What the handler of a task gets; empty for jobs that no request for tasks has made. */
export function inputOf({ args }: Pick<Job['spec'], 'args'>): JsonObject {
  const [input] = args;
  return isObject(input) && typeof input['taskId'] === 'string' ? input : {};
}
