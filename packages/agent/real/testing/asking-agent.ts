// An agent that asks people, whose runs have a process of their own.
import { agentTask } from '../../src/agent-task.ts';
import { OUTPUT } from './output.ts';

export const asking = agentTask({
  name: 'agent.asking',
  module: import.meta.url,
  prompt: 'Count the files.',
  tools: ['Bash'],
  output: OUTPUT,
  timeout: 300_000,
  silence: 240_000,
  askHuman: true,
  approve: ['Bash'],
});
