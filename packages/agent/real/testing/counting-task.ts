// The task of the tests with a real worker. Each run loads this module in a process of its own.
import { agentTask } from '../../src/index.ts';
import { OUTPUT } from './output.ts';

export const counting = agentTask({
  name: 'agent.count',
  module: import.meta.url,
  prompt: 'Count the files.',
  tools: ['Bash'],
  output: OUTPUT,
  budget: { tokens: 50_000 },
  runTimeout: 600_000,
  isolate: { cwd: process.env['AGENT_CWD'] ?? process.cwd() },
});
