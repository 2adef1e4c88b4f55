// A task on a repository whose runs have a process of their own. Imported when the variables that it reads are set.
import { agentTask } from '@waybill/agent';
import { z } from 'zod';

export const mend = agentTask({
  name: 'repo.mend',
  module: import.meta.url,
  isolate: { cwd: process.env['WAYBILL_TEST_CWD'] ?? '.' },
  input: z.object({ repo: z.string() }),
  repo: ({ repo }) => repo,
  credentials: { tokenEnv: 'GIT_CRED' },
  prompt: 'Write the answer.',
  tools: ['Bash', 'Write'],
  feedback: { lint: 'env > env.txt; test -f answer.txt', test: ['./check.sh'] },
  push: true,
});
