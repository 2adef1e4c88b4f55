import { type AgentDefinition, agentTask } from '@waybill/agent';
import { TASK_MESSAGE, type TaskMessage } from './task-message.ts';

/** A message becomes this prompt; every value of it is sanitized on its way. */
const PROMPT = `# Task
{{name}}

{{description?}}

# Input
{{input}}

# Results of previous tasks
{{dependencyOutputs}}

# Answer
Do the task. Answer with its result and nothing else.`;

export const DEFINITION = {
  name: 'agent.task',
  prompt: PROMPT,
  // Whoever may send messages decides what an agent is told, so it gets no tools unless a module of the user gives them.
  tools: [],
} as const satisfies AgentDefinition<TaskMessage>;

/** What runs where the user names no module: an agent without tools that is told the name and the input of the task. */
export const consumerTask = agentTask({ ...DEFINITION, input: TASK_MESSAGE, module: import.meta.url });
