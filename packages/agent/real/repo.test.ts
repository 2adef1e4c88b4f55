import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WaybillError } from '@waybill/core';
import { describe, expect, test } from 'vitest';
import type { AgentDefinition } from '../src/agent-definition.ts';
import { gitServer } from '../src/repo/testing/git-server.ts';
import { git, lack, Remote } from '../src/repo/testing/remote.ts';
import { calls, folderFiles, RecordedContext, says } from '../src/testing/index.ts';
import { folder, model, start } from './testing/agent.ts';
import { gone, pidIn, written } from './testing/processes.ts';
import { writing } from './testing/writing.ts';

const CHILD = fileURLToPath(new URL('./testing/run-child.ts', import.meta.url));
const CHECK = '#!/bin/sh\ngrep -q right answer.txt || { echo "answer.txt is not right"; exit 3; }\n';

const onRepo = async (remote: Remote, rest: Partial<AgentDefinition> = {}): Promise<Partial<AgentDefinition>> => ({
  repo: remote.path,
  repoCache: await folder(),
  tools: ['Bash', 'Write'],
  feedback: { lint: 'test -f answer.txt', test: ['./check.sh'] },
  ...rest,
});

/** The folders of runs that are there. */
async function runsIn(cache: string): Promise<string[]> {
  const repositories = await readdir(cache);
  return (await Promise.all(repositories.map((name) => readdir(join(cache, name, 'runs'))))).flat();
}

/** Resolves when the saved work of a conversation has this text: a save may come in the midst of a change. */
async function saved(remote: Remote, folder: string, text: string): Promise<void> {
  const textIn = (bundle: string): string => {
    try {
      git(remote.path, 'fetch', '--quiet', join(folder, bundle), '+refs/waybill/work:refs/test/work');
      return remote.show('refs/test/work:answer.txt');
    } catch {
      return '';
    }
  };
  const end = performance.now() + 60_000;
  while (!['work-1.bundle', 'work-2.bundle'].some((bundle) => textIn(bundle) === text)) {
    if (performance.now() > end) throw new Error(`'${text}' was not saved within 60 s.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await written(join(folder, 'state.json'), textIn('work-1.bundle') === text ? 'work-1.bundle' : 'work-2.bundle');
}

/** The copy of the only repository of a cache. */
async function copyIn(cache: string): Promise<string> {
  const [name] = await readdir(cache);
  return join(cache, name!, await readFile(join(cache, name!, 'current'), 'utf8'));
}

describe.skipIf(lack)(`an agent on a repository${lack ? ` (${lack})` : ''}`, () => {
  test('what fails goes back to the agent in the same session, and the result is a branch and a patch', async () => {
    const remote = new Remote({ 'check.sh': CHECK, 'README.md': 'one\n' });
    const before = git(remote.path, 'rev-parse', 'main');
    const definition = await onRepo(remote);
    const agent = await start(writing('wrong\n', 'right\n'), definition);
    const { repo, output } = await agent.result;
    expect(output).toBe('Done.');
    expect(repo).toMatchObject({
      commit: before,
      branch: `waybill/${agent.context.job.id}`,
      pushed: false,
      patch: { files: 1, insertions: 1, deletions: 0, file: 'artifacts/changes.patch', parts: 1 },
      feedback: [
        { name: 'lint', passed: true, exitCode: 0 },
        { name: 'test', passed: true, exitCode: 0 },
      ],
      passed: true,
      rounds: 1,
    });
    // One conversation, which was told what has failed.
    const { requests } = agent.model;
    expect(new Set(requests.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(requests.at(-1)!.prompts).toHaveLength(2);
    expect(requests.at(-1)!.prompt).toContain('The command test (./check.sh) ended with exit code 3');
    expect(requests.at(-1)!.prompt).toContain('answer.txt is not right');
    expect(agent.context.of('agent.feedback')).toMatchObject([
      { name: 'lint', passed: true, round: 0 },
      { name: 'test', passed: false, round: 0, exit_code: 3 },
      { name: 'lint', passed: true, round: 1 },
      { name: 'test', passed: true, round: 1 },
    ]);
    // The branch is in the copy and not on the server, the commit has its author, and the patch fits.
    const copy = await copyIn(definition.repoCache!);
    expect(git(copy, 'log', '-1', '--format=%an|%P', repo!.branch!)).toBe(`waybill agent|${before}`);
    expect(git(copy, 'show', `${repo!.head}:answer.txt`)).toBe('right');
    expect(remote.branches).toEqual(['main']);
    const patch = await agent.context.files.get('artifacts/changes.patch');
    expect(Buffer.from(patch!).toString()).toContain('+right');
    expect(await agent.file('artifacts/changes.patch')).toBe(Buffer.from(patch!).toString());
    expect(await runsIn(definition.repoCache!)).toEqual([]);
  });

  test('work that does not pass after the last round fails the run, and is kept', async () => {
    const remote = new Remote({ 'check.sh': CHECK });
    const definition = await onRepo(remote, { push: true, feedback: { test: ['./check.sh'], rounds: 1 } });
    const agent = await start(writing('wrong\n', 'still wrong\n'), definition);
    const branch = `waybill/${agent.context.job.id}`;
    expect(await agent.failure()).toMatchObject({
      code: 'feedback_failed',
      retryable: true,
      details: { command: 'test', exit_code: 3, rounds: 1, branch, patch: 'artifacts/changes.patch' },
    });
    expect(String(await agent.failure())).toContain('answer.txt is not right');
    expect(git(await copyIn(definition.repoCache!), 'show', `${branch}:answer.txt`)).toBe('still wrong');
    expect(remote.branches).toEqual(['main']);
    expect(await runsIn(definition.repoCache!)).toEqual([]);
  });

  test('with whenFeedbackFails the same work completes, and is pushed', async () => {
    const remote = new Remote({ 'check.sh': CHECK });
    const feedback = { test: ['./check.sh'] as const, rounds: 0 };
    const options = { push: true, whenFeedbackFails: 'complete' as const, branch: 'agents/answer', feedback };
    const agent = await start(writing('wrong\n'), await onRepo(remote, options));
    const { repo } = await agent.result;
    expect(repo).toMatchObject({ passed: false, pushed: true, branch: 'agents/answer', rounds: 0 });
    expect(remote.show('agents/answer:answer.txt')).toBe('wrong');
  });

  test('an agent that changes nothing leaves no commit, and says so', async () => {
    const remote = new Remote();
    const definition = await onRepo(remote, { feedback: { lint: 'true' }, push: true });
    const { repo } = await (await start([says('Nothing to do.')], definition)).result;
    expect(repo).toMatchObject({ head: repo!.commit, branch: null, patch: null, pushed: false, passed: true });
    expect(remote.branches).toEqual(['main']);
  });

  test('cancel ends a feedback command within five seconds, with all that it has started', async () => {
    const remote = new Remote();
    const pids = await folder();
    const test = `setsid sh -c 'trap "" TERM; echo $$ > ${pids}/left; while :; do sleep 1; done' & trap '' TERM; echo $$ > ${pids}/main; while :; do sleep 1; done`;
    const definition = await onRepo(remote, { feedback: { test } });
    const agent = await start(writing('x\n'), definition);
    const running = [await pidIn(join(pids, 'main')), await pidIn(join(pids, 'left'))];
    const reason = new WaybillError('conflict', 'The job was cancelled.');
    const before = performance.now();
    agent.context.abort(reason);
    expect(await agent.failure()).toBe(reason);
    expect(performance.now() - before).toBeLessThan(5_000);
    for (const pid of running) await gone(pid, 0);
    expect(await runsIn(definition.repoCache!)).toEqual([]);
  });

  test('turns hold over the rounds', async () => {
    const remote = new Remote({ 'check.sh': CHECK });
    const agent = await start(writing('wrong\n', 'wrong\n', 'wrong\n'), await onRepo(remote, { maxTurns: 4 }));
    expect(await agent.failure()).toMatchObject({ code: 'max_turns' });
    expect(agent.model.requests).toHaveLength(4);
  });

  test('a run that failed its feedback is gone on with by the next one, in the same session and with its work', async () => {
    const remote = new Remote({ 'check.sh': CHECK });
    const definition = await onRepo(remote, { feedback: { test: ['./check.sh'], rounds: 0 } });
    const files = folderFiles(await folder());
    const first = await start(writing('wrong\n', 'right\n'), definition, { files });
    expect(await first.failure()).toMatchObject({ code: 'feedback_failed' });
    remote.commit({ 'README.md': 'newer\n' });
    const lastCheckpoint = first.context.saved;
    const second = await start([], definition, { files, run: 2, model: first.model, lastCheckpoint });
    const { repo } = await second.result;
    expect(repo).toMatchObject({ passed: true, patch: { files: 1 } });
    const { prompt } = first.model.requests.at(-1)!;
    expect(prompt).toContain('answer.txt is not right');
    expect(second.model.requests.at(-1)!.toolResults.at(-2)!.text).toMatch(/^wrong\n/);
    expect(prompt).toContain('Your working folder is ');
    // It goes on from where it began, and not from what the server has now.
    expect(second.context.of('agent.repository')).toMatchObject([{ commit: repo!.commit, is_restored: true }]);
    expect(git(remote.path, 'rev-parse', 'main~1')).toBe(repo!.commit);
  });

  test('settings and filters that an agent writes into its folder make git of ours run nothing', async () => {
    const remote = new Remote();
    const evil = join(await folder(), 'ran');
    const setup = [
      `git config filter.x.clean 'touch ${evil}; cat' && git config core.fsmonitor 'touch ${evil}'`,
      `echo '* filter=x diff=x' > .gitattributes && git config diff.x.textconv 'touch ${evil}; cat'`,
      `mkdir -p .git/hooks && printf '#!/bin/sh\\ntouch ${evil}\\n' | tee .git/hooks/pre-commit .git/hooks/post-commit > .git/hooks/reference-transaction`,
      'chmod +x .git/hooks/*',
      'echo x > new.txt',
    ].join(' && ');
    const agent = await start([calls('Bash', { command: setup }), says('Done.')], {
      ...(await onRepo(remote, {
        feedback: { lint: 'true' },
        permissionMode: 'bypassPermissions',
        env: { IS_SANDBOX: '1' },
      })),
    });
    expect((await agent.result).repo!.patch).toMatchObject({ files: 2 });
    expect(agent.model.requests[1]!.toolResult('Bash')!.isError).toBe(false);
    expect(existsSync(evil)).toBe(false);
  });

  test('kill -9 in mid-agent: the next run finds the work, goes on with the session and ends it', async () => {
    const remote = new Remote({ 'check.sh': CHECK });
    const [files, cwd, tmp, pids] = [await folder(), await folder(), await folder(), await folder()];
    const definition = await onRepo(remote, { feedback: { test: ['./check.sh'] } });
    const asked = await model((request) => {
      const write = writing('right\n')(request);
      // After its only change it is busy until it is killed; the next run finds nothing left to do.
      const isBusy = request.hasToolResult('Write') && request.prompts.length === 1;
      return isBusy ? calls('Bash', { command: `echo $$ > ${pids}/pid; exec sleep 300`, timeout: 600_000 }) : write;
    });
    const env = { PATH: process.env['PATH'], TMPDIR: tmp, ...asked.env };
    const options = JSON.stringify({ ...definition, output: undefined });
    const args = [CHILD, files, JSON.stringify(env), options];
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
    const pid = await pidIn(join(pids, 'pid'));
    const kept = folderFiles(files);
    const id = new RecordedContext().job.id;
    await saved(remote, join(files, 'repository', id), 'right');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await gone(pid);
    expect(await runsIn(definition.repoCache!)).toHaveLength(1);

    const next = await start([], definition, { files: kept, model: asked, run: 2 });
    const { repo } = await next.result;
    expect(repo).toMatchObject({ passed: true, rounds: 0, patch: { files: 1, insertions: 1 } });
    expect(asked.requests.at(-1)!.prompt).toContain('The worker restarted');
    expect(asked.requests.at(-1)!.prompts).toHaveLength(2);
    expect(new Set(asked.requests.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(await runsIn(definition.repoCache!)).toEqual([]);
  });

  test('the token of the repository opens it to git, and the agent and its tools have none', async () => {
    const token = 'planted-4f1d8f7a-token';
    const remote = new Remote();
    const server = await gitServer(remote, `x-access-token:${token}`);
    const filesFolder = await folder();
    const command = 'env; cat .git/config; grep -rl planted-4f1d8f7a .. ; echo made > new.txt; echo looked';
    const credentials = { tokenEnv: 'GIT_CRED' };
    const definition = await onRepo(remote, { repo: server.url, credentials, push: true, feedback: { lint: 'env' } });
    const agent = await start([calls('Bash', { command }), says('Done.')], definition, {
      files: folderFiles(filesFolder),
      env: { GIT_CRED: token },
    });
    const result = await agent.result;
    await server.close();
    expect(remote.show(`${result.repo!.branch}:new.txt`)).toBe('made');
    const seen = agent.model.requests[1]!.toolResult('Bash')!.text;
    expect(seen).toContain('looked');
    const kept = await Promise.all(
      (await readdir(filesFolder, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1')),
    );
    const said = JSON.stringify([
      agent.model.requests.map(({ body }) => body),
      agent.context.entries,
      agent.context.logs,
    ]);
    for (const text of [seen, said, JSON.stringify(result), ...kept, ...server.commands]) {
      expect(text.includes(Buffer.from(`x-access-token:${token}`).toString('base64'))).toBe(false);
      expect(text.replaceAll(command, '').includes(token)).toBe(false);
    }
  });
});
