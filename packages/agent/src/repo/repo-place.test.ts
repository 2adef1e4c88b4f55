import { expect, test } from 'vitest';
import { agentTask } from '../agent-task.ts';
import type { RepoDefinition } from './repo-definition.ts';
import { repoPlace } from './repo-place.ts';

const jobId = 'job 1';
const placeOf = (definition: RepoDefinition, input: unknown = {}, worker: Record<string, string> = {}) =>
  repoPlace({ name: 'repo.test', definition, input, jobId, worker, cwd: '/srv' });
const fromInput: RepoDefinition = {
  repo: (input) => (input as { repo: string }).repo,
  ref: (input) => (input as { ref?: string }).ref,
};

test('a task without a repository has no place, and a path is one from the working folder', () => {
  expect(placeOf({})).toBeNull();
  expect(placeOf({ repo: 'git/app' })).toMatchObject({
    address: { url: 'file:///srv/git/app' },
    ref: undefined,
    branch: 'waybill/job_1',
    token: null,
  });
});

test('what a function makes of the input is checked as what is written', () => {
  const repo = 'https://git.test/app';
  expect(placeOf(fromInput, { repo, ref: 'v1' })).toMatchObject({ address: { url: repo }, ref: 'v1' });
  expect(() => placeOf(fromInput, { repo: '--upload-pack=touch x' })).toThrow("'repo' must not begin with '-'");
  expect(() => placeOf(fromInput, { repo: 'ext::touch x' })).toThrow("'repo' must not name a transport");
  expect(() => placeOf(fromInput, { repo: undefined })).toThrow("'repo' must be an address or a path");
  expect(() => placeOf(fromInput, { repo, ref: '-x' })).toThrow("'ref' must not begin with '-'");
  expect(() => placeOf({ repo, branch: () => 'a b' })).toThrow("'branch' must be a name that git accepts");
});

test('a token is for its own server, and for no other kind of address', () => {
  const credentials = { tokenEnv: 'GIT_CRED' };
  const worker = { GIT_CRED: 'planted-value\n' };
  const { token } = placeOf({ ...fromInput, credentials }, { repo: 'https://git.test:8443/team/app' }, worker)!;
  const basic = Buffer.from('x-access-token:planted-value').toString('base64');
  expect(token!.header).toEqual(['http.https://git.test:8443/.extraHeader', `Authorization: Basic ${basic}`]);
  const toSsh = (): unknown => placeOf({ ...fromInput, credentials }, { repo: 'git@git.test:app' }, worker);
  expect(toSsh).toThrow('needs an https repository');
});

test('the process of an isolated run gets the variable of the token, and only where a task names one', () => {
  const given = {
    name: 'repo.test',
    prompt: 'Work.',
    tools: [],
    module: import.meta.url,
    repo: 'https://git.test/app',
  };
  const inherited = (options: object): unknown =>
    (agentTask({ ...given, ...options }) as unknown as { isolate: { inheritEnv: string[] } }).isolate.inheritEnv;
  expect(inherited({ credentials: { tokenEnv: 'GIT_CRED' } })).toContain('GIT_CRED');
  expect(inherited({})).not.toContain('GIT_CRED');
});
