import { expect, test } from 'vitest';
import { z } from 'zod';
import { agentTask } from '../agent-task.ts';

const made = (options: object) => () =>
  agentTask({ name: 'repo.test', prompt: 'Work.', tools: [], ...options } as Parameters<typeof agentTask>[0]);
const repo = 'https://git.test/team/app.git';

test('a task on a repository is taken, with values or with functions of the input', () => {
  expect(
    made({ repo, ref: 'main', branch: 'fix/x', feedback: { lint: 'npm run lint', test: ['npm', 'test'] } }),
  ).not.toThrow();
  const input = z.object({ repo: z.string(), ref: z.string().optional() });
  agentTask({
    name: 'repo.input',
    prompt: 'Work.',
    tools: [],
    input,
    repo: (value) => value.repo,
    ref: ({ ref }) => ref,
  });
});

test.each([
  [{ repo: '--upload-pack=x' }, "'repo' must not begin with '-'"],
  [{ repo: 'ext::sh -c x' }, "'repo' must not name a transport"],
  [{ repo, ref: '-x' }, "'ref' must not begin with '-'"],
  [{ repo, branch: '--force' }, "'branch' must not begin with '-'"],
  [{ repo, feedback: { lnt: 'x' } }, "no 'lnt'. Did you mean 'lint'"],
  [{ repo, feedback: { lint: ' ' } }, "'feedback.lint' must be a command"],
  [{ repo, feedback: { test: [] } }, "'feedback.test' must be a command"],
  [{ repo, feedback: { rounds: -1 } }, "'feedback.rounds' must be a whole number"],
  [{ repo, feedback: { timeout: 0 } }, "'feedback.timeout' must be milliseconds"],
  [{ repo, whenFeedbackFails: 'ignore' }, "'whenFeedbackFails' must be 'complete' or 'fail'"],
  [{ repo, push: 'yes' }, "'push' must be true or false"],
  [{ repo, author: { name: 'a\nb' } }, "'author.name' must be a text of one line"],
  [{ repo, credentials: { token: 'x' } }, "no 'token'"],
  [{ repo, credentials: { tokenEnv: 'ghp_secret!' } }, "'credentials.tokenEnv' must be the name of a variable"],
  [{ repo: 'git@host:app', credentials: { tokenEnv: 'T' } }, 'only an https repository takes'],
  [{ repo, credentials: { tokenEnv: 'GIT_T' }, inheritEnv: ['GIT_*'] }, "'inheritEnv' must not pass GIT_T"],
  [{ repo, credentials: { tokenEnv: 'GIT_T' }, env: { GIT_T: 'x' } }, "'env' must not pass GIT_T"],
  [{ repo, credentials: { tokenEnv: 'ANTHROPIC_T' } }, 'every agent gets that variable'],
  [{ feedback: { lint: 'x' } }, "'feedback' needs 'repo'"],
  [{ repo, reff: 'main' }, "no 'reff'. Did you mean 'ref'"],
])('%j is refused with what to do', (options, problem) => {
  expect(made(options)).toThrow(problem);
});
