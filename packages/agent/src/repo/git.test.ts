import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { Redactor } from '../security/redactor.ts';
import { Git } from './git.ts';
import { allowedProtocols, gitEnvironment, gitToken } from './git-environment.ts';
import { type RepoAddress, repoAddress } from './repo-address.ts';
import { folder, lack, Remote, rejection } from './testing/remote.ts';

const { signal } = new AbortController();
const gitOf = (worker: Record<string, string | undefined>): Git =>
  new Git({ env: gitEnvironment({ PATH: process.env['PATH'], ...worker }), signal, redactor: new Redactor({}) });

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.skipIf(lack)(`git${lack ? ` (${lack})` : ''}`, () => {
  test('runs by settings of ours alone, whatever the user and the environment of the worker say', async () => {
    const home = folder();
    const ran = join(home, 'ran');
    writeFileSync(join(home, '.gitconfig'), `[core]\n\tfsmonitor = touch ${ran}\n[user]\n\tname = Mine\n`);
    const git = gitOf({
      ...{ HOME: home, XDG_CONFIG_HOME: home, GIT_DIR: home, GIT_SSH_COMMAND: `touch ${ran}`, GIT_TRACE: '1' },
      ...{ GIT_CONFIG_GLOBAL: join(home, '.gitconfig'), GIT_CONFIG_PARAMETERS: "'user.name=Mine'" },
    });
    const said = await git.run(['config', '--list', '--show-scope'], { doing: 'list settings' });
    expect(said.split('\n').filter((line) => !/^command\t|^$/.test(line))).toEqual([]);
    expect(said).not.toContain('Mine');
    expect(said).toContain('core.hookspath=/dev/null');
    expect(existsSync(ran)).toBe(false);
  });

  test('starts no program for an address, even where an address was let through', async () => {
    const ran = join(folder(), 'ran');
    const args = ['ls-remote', `ext::sh -c "touch% ${ran}"`];
    const error = await rejection(gitOf({}).run(args, { doing: 'list' }));
    expect(error.message).toContain('not allowed');
    expect(existsSync(ran)).toBe(false);
  });

  test('ends at its deadline although the server never answers', async () => {
    const url = await listening(createServer(() => {}));
    const env = allowedProtocols(repoAddress(url, '/') as RepoAddress);
    const call = { env: { GIT_ALLOW_PROTOCOL: 'http', ...env }, deadlineMs: 300, doing: 'list' };
    const error = await rejection(gitOf({}).run(['ls-remote', `${url}/app.git`], call));
    expect(error).toMatchObject({ code: 'repo_failed', retryable: true, details: { outcome: 'timeout' } });
  });

  test('ends with its run', async () => {
    const asked = Promise.withResolvers<void>();
    const url = await listening(createServer(() => asked.resolve()));
    const run = new AbortController();
    const env = gitEnvironment({ PATH: process.env['PATH'] });
    const git = new Git({ env, signal: run.signal, redactor: new Redactor({}) });
    const call = { env: { GIT_ALLOW_PROTOCOL: 'http' }, doing: 'list' };
    const listed = rejection(git.run(['ls-remote', `${url}/app.git`], call));
    await asked.promise;
    const reason = new Error('cancelled');
    run.abort(reason);
    expect(await listed).toBe(reason);
  });

  test('does not take the token to the server that a redirect names', async () => {
    const seen: (string | undefined)[] = [];
    const other = await listening(
      createServer(({ headers }, response) => {
        seen.push(headers.authorization);
        response.writeHead(404).end();
      }),
    );
    const url = await listening(
      createServer(({ url: path }, response) => void response.writeHead(302, { location: `${other}${path}` }).end()),
    );
    const address = repoAddress(`${url}/app.git`, '/') as RepoAddress;
    const worker = { PATH: process.env['PATH'], GIT_CRED: 'planted-4f1d8f7a-token' };
    const env = {
      ...gitEnvironment(worker, gitToken({ tokenEnv: 'GIT_CRED' }, worker, address)),
      ...allowedProtocols(address),
    };
    const error = await rejection(gitOf({}).run(['ls-remote', address.url], { env, doing: 'list' }));
    expect(error).toMatchObject({ code: 'repo_failed' });
    expect(seen).toEqual([]);
  });

  test('that is not installed is told', async () => {
    const error = await rejection(gitOf({ PATH: folder() }).run(['version'], { doing: 'tell its version' }));
    expect(error).toMatchObject({ code: 'repo_failed', retryable: false });
    expect(error.message).toContain("'git' is in no folder of PATH");
  });

  test('hooks of a repository do not run', async () => {
    const remote = new Remote();
    const ran = join(folder(), 'ran');
    const hook = join(remote.path, 'hooks', 'reference-transaction');
    writeFileSync(hook, `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    await gitOf({}).run(['update-ref', 'refs/heads/other', 'main'], { gitDir: remote.path, doing: 'make a branch' });
    expect(remote.branches).toEqual(['main', 'other']);
    expect(existsSync(ran)).toBe(false);
  });
});
