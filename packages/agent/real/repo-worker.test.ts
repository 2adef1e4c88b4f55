import { afterEach, describe, expect, test } from 'vitest';
import { connect } from 'waybill';
import { gitServer } from '../src/repo/testing/git-server.ts';
import { lack, Remote } from '../src/repo/testing/remote.ts';
import { folder, model } from './testing/agent.ts';
import { writing } from './testing/writing.ts';

const before = { ...process.env };
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
});

describe.skipIf(lack)(`a worker with a task on a repository${lack ? ` (${lack})` : ''}`, () => {
  test('the run has a process of its own, and mends, commits and pushes there', async () => {
    const token = 'planted-4f1d8f7a-token';
    const remote = new Remote({ 'check.sh': '#!/bin/sh\ngrep right answer.txt\n' });
    const server = await gitServer(remote, `x-access-token:${token}`);
    const asked = await model(writing('wrong\n', 'right\n'));
    const cwd = await folder();
    Object.assign(process.env, asked.env, { GIT_CRED: token, XDG_CACHE_HOME: await folder(), WAYBILL_TEST_CWD: cwd });
    const { mend } = await import('./testing/repo-task.ts');
    const waybill = await connect('sqlite::memory:', { blobs: `file:${await folder()}` });
    try {
      waybill.work([mend]);
      const result = await waybill.wait(await waybill.enqueue(mend, { repo: server.url }), { timeoutMs: 100_000 });
      expect(result.repo).toMatchObject({ passed: true, rounds: 1, pushed: true, patch: { files: 2 } });
      expect(remote.show(`${result.repo!.branch}:answer.txt`)).toBe('right');
      const env = remote.show(`${result.repo!.branch}:env.txt`);
      expect(env).toContain('PATH=');
      expect(env).not.toContain(token);
      expect(env).not.toContain('ANTHROPIC');
    } finally {
      await waybill.close();
      await server.close();
    }
  });
});
