// A task that is run by hand: node by-hand-task.ts INPUT
import { z } from 'zod';
import { agentTask, runByHand } from '../../src/index.ts';

const task = agentTask({
  name: 'agent.hand',
  module: import.meta.url,
  input: z.object({ folder: z.string() }),
  prompt: 'Count the files in {{folder}}.',
  tools: ['Bash'],
});

await runByHand(task);
