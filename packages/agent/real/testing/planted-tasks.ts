// The tasks of the test that plants secrets. Each run loads this module in a process of its own.
import { readFileSync } from 'node:fs';
import { agentTask } from '../../src/index.ts';
import { OUTPUT } from './output.ts';

const base = {
  module: import.meta.url,
  prompt: 'Look for {{what}}.',
  tools: ['Bash'],
  isolate: { cwd: process.env['AGENT_CWD'] ?? process.cwd() },
  retry: { max_attempts: 1 },
} as const;

/** Its tools print all that they can find. */
export const looking = agentTask({ ...base, name: 'planted.look', output: OUTPUT });

/** Its processing throws what it reads in a file, and prints it as programs do. */
export const failing = agentTask({
  ...base,
  name: 'planted.fail',
  processOutput: () => {
    const text = readFileSync('error.txt', 'utf8');
    throw new Error(text, { cause: new Error(text) });
  },
});

/** The same, where nothing catches it: Node's own words go to stderr, and so into the journal and the log. */
export const crashing = agentTask({
  ...base,
  name: 'planted.crash',
  processOutput: () => {
    setImmediate(() => {
      throw new Error(readFileSync('error.txt', 'utf8'));
    });
    return new Promise(() => {});
  },
});
