import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { folderFiles } from '../testing/folder-files.ts';
import { open } from './testing/open.ts';
import { folder, git, lack, Remote, rejection } from './testing/remote.ts';
import { noFix } from './testing/repo-runs.ts';

const RUNNER = fileURLToPath(new URL('testing/runner.ts', import.meta.url));

/** A process that runs on the repository: writes to the file, and keeps the branch. */
const startRunner = (...args: string[]): ChildProcess =>
  spawn(process.execPath, [RUNNER, ...args, folder()], { stdio: ['ignore', 'pipe', 'inherit'] });

async function endOf(runner: ChildProcess): Promise<string> {
  let said = '';
  runner.stdout!.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(runner, 'close');
  expect(code).toBe(0);
  return said.trim().split('\n').at(-1)!;
}

describe.skipIf(lack)(`repositories of many runs${lack ? ` (${lack})` : ''}`, () => {
  test('a large patch and a large bundle are kept in parts that an isolated process can send', async () => {
    const remote = new Remote();
    const sizes: number[] = [];
    const kept = folderFiles(folder());
    const put = async (name: string, data: Uint8Array): Promise<void> => {
      sizes.push(data.length);
      await kept.put(name, data);
    };
    const files = { ...kept, put };
    const definition = { repo: remote.path, repoCache: folder() };
    const { run } = await open(definition, { files });
    const noise = Array.from({ length: 300_000 }, (_, at) => Math.imul(at + 1, 2_654_435_761).toString(36)).join('\n');
    writeFileSync(join(run.path, 'large.txt'), noise);
    const { repo } = await run.settle('x', noFix);
    expect(repo.patch!.parts).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_024 * 1_024);
    await run.close();
    const again = await open(definition, { files, run: 2 });
    expect(readFileSync(join(again.run.path, 'large.txt'), 'utf8')).toBe(noise);
    await again.run.close();
  });

  test('a run after one that pushed and died adds to its branch, and a push is never forced', async () => {
    const remote = new Remote();
    const files = folderFiles(folder());
    const definition = { repo: remote.path, repoCache: folder(), push: true };
    const first = await open(definition, { files });
    writeFileSync(join(first.run.path, 'a.txt'), 'a\n');
    const before = (await first.run.settle('x', noFix)).repo;
    await first.run.close();
    const second = await open({ ...definition, repoCache: folder() }, { files, run: 2 });
    const same = (await second.run.settle('x', noFix)).repo;
    expect(same).toMatchObject({ head: before.head, pushed: true });
    await second.run.close();
    const third = await open(definition, { files, run: 3 });
    writeFileSync(join(third.run.path, 'b.txt'), 'b\n');
    const after = (await third.run.settle('x', noFix)).repo;
    expect(git(remote.path, 'rev-parse', `${after.branch}~1`)).toBe(before.head);
    await third.run.close();
    const other = await open(definition, { files, run: 4, sessionId: 'session-2' });
    writeFileSync(join(other.run.path, 'c.txt'), 'c\n');
    const error = await rejection(other.run.settle('x', noFix));
    expect(error).toMatchObject({ code: 'repo_failed', retryable: false });
    expect(error.message).toContain('could not push');
    expect(git(remote.path, 'rev-parse', after.branch!)).toBe(after.head);
    await other.run.close();
  });

  test('processes that begin at once on an empty cache share one copy, and each keeps a branch of its own', async () => {
    const remote = new Remote();
    const cache = folder();
    const runners = ['a', 'b', 'c'].map((name) => startRunner(remote.path, cache, `${name}.txt`, 'end'));
    const branches = await Promise.all(runners.map(endOf));
    const repository = join(cache, readdirSync(cache)[0]!);
    expect(readdirSync(repository).filter((name) => name.startsWith('copy-'))).toHaveLength(1);
    expect(readdirSync(join(repository, 'runs'))).toEqual([]);
    const copy = join(repository, readFileSync(join(repository, 'current'), 'utf8'));
    expect(git(copy, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n')).toEqual(branches.sort());
    expect(branches.map((branch) => git(copy, 'ls-tree', '--name-only', branch).split('\n')[1]).sort()).toEqual([
      ...['a.txt', 'b.txt', 'c.txt'],
    ]);
    git(copy, 'fsck', '--strict');
  });

  test.each(['cloning', 'working'])('kill -9 while %s leaves a cache that the next run uses', async (moment) => {
    const remote = new Remote({ 'large.txt': 'x'.repeat(100_000) });
    const cache = folder();
    const killed = startRunner(remote.path, cache, 'a.txt', moment);
    const exit = once(killed, 'exit');
    await once(killed.stdout!, 'data');
    killed.kill('SIGKILL');
    await exit;
    const { run } = await open({ repo: remote.path, repoCache: cache });
    const repository = join(cache, readdirSync(cache)[0]!);
    expect(readdirSync(join(repository, 'runs'))).toHaveLength(1);
    writeFileSync(join(run.path, 'b.txt'), 'b');
    const { repo } = await run.settle('x', noFix);
    expect(repo.patch).toMatchObject({ files: 1 });
    await run.close();
    await (await open({ repo: remote.path, repoCache: cache })).run.close();
    expect(readdirSync(repository).filter((name) => name.startsWith('copy-'))).toHaveLength(1);
    expect(existsSync(run.path)).toBe(false);
  });
});
