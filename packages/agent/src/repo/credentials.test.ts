import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { cliEnvironment } from '../query/cli-environment.ts';
import { folderFiles } from '../testing/folder-files.ts';
import { type GitServer, gitServer } from './testing/git-server.ts';
import { open } from './testing/open.ts';
import { folder, git, lack as noGit, Remote, rejection } from './testing/remote.ts';
import { noFix } from './testing/repo-runs.ts';

const lack = noGit ?? (process.platform === 'linux' ? undefined : 'needs /proc');
const TOKEN = 'planted-4f1d8f7a-token';
const BASIC = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');

let server: GitServer | undefined;
afterEach(() => server?.close());

/** Everything that stands in files below a folder, with their names. */
const textIn = (path: string): string =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => `${file}\n${readFileSync(file, 'latin1')}`)
    .join('\n');

function expectNoToken(text: string): void {
  for (const secret of [TOKEN, BASIC]) expect(text.includes(secret)).toBe(false);
}

describe.skipIf(lack)(`the token of a repository${lack ? ` (${lack})` : ''}`, () => {
  test('opens the server to git, and is in no argument, file, entry or environment besides', async () => {
    const remote = new Remote();
    server = await gitServer(remote, `x-access-token:${TOKEN}`);
    const [cache, files] = [folder(), folder()];
    const worker = { PATH: process.env['PATH'], GIT_CRED: TOKEN };
    const definition = {
      ...{ repo: server.url, repoCache: cache, push: true, credentials: { tokenEnv: 'GIT_CRED' } },
      feedback: { lint: 'env; cat .git/config; git fetch origin; exit 0' },
    };
    const { run, context, outputFolder } = await open(definition, { worker, files: folderFiles(files) });
    writeFileSync(join(run.path, 'a.txt'), 'a\n');
    const { repo } = await run.settle('x', noFix);
    expect(repo).toMatchObject({ pushed: true, passed: true });
    expect(git(remote.path, 'show', `${repo.branch}:a.txt`)).toBe('a');
    // The folder of the run is there until it is closed.
    expect(textIn(cache)).toContain(run.path);
    expectNoToken(textIn(cache) + textIn(files) + textIn(outputFolder));
    expectNoToken(JSON.stringify([repo, context.entries, context.logs, context.saved]));
    expect(repo.feedback[0]!.output).toContain('PATH=');
    expect(server.commands.join('\n')).toContain('remote-http');
    expectNoToken(server.commands.join('\n'));
    expectNoToken(JSON.stringify(cliEnvironment({ worker, folders: {} })));
    await run.close();
  });

  test('a server that refuses it is told without it', async () => {
    server = await gitServer(new Remote(), 'x-access-token:another');
    const credentials = { tokenEnv: 'GIT_CRED' };
    const worker = { PATH: process.env['PATH'], GIT_CRED: TOKEN };
    const error = await rejection(open({ repo: server.url, repoCache: folder(), credentials }, { worker }));
    expect(error).toMatchObject({ code: 'repo_failed', retryable: false });
    expect(error.message).toContain("Check the token that 'credentials' names");
    expectNoToken(`${error.message} ${error.stack} ${JSON.stringify(error)}`);
  });

  test('a variable that is not set is told before anything is asked', async () => {
    const definition = { repo: 'https://git.test/app', repoCache: folder(), credentials: { tokenEnv: 'GIT_CRED' } };
    expect((await rejection(open(definition))).message).toContain("no variable GIT_CRED, which 'credentials' names");
  });

  test('changes that contain it are not kept', async () => {
    const remote = new Remote();
    server = await gitServer(remote, `x-access-token:${TOKEN}`);
    const worker = { PATH: process.env['PATH'], GIT_CRED: TOKEN };
    const definition = { repo: server.url, repoCache: folder(), push: true, credentials: { tokenEnv: 'GIT_CRED' } };
    const { run, context } = await open(definition, { worker });
    writeFileSync(join(run.path, 'a.txt'), `${TOKEN}\n`);
    const error = await rejection(run.settle('x', noFix));
    expect(error.message).toContain("contain the token of 'credentials'");
    expect(remote.branches).toEqual(['main']);
    expect(await context.files.get('artifacts/changes.patch')).toBeNull();
    await run.close();
  });
});
