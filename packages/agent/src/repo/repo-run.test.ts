import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderFiles } from '../testing/folder-files.ts';
import { open } from './testing/open.ts';
import { folder, git, lack, Remote } from './testing/remote.ts';
import { noFix } from './testing/repo-runs.ts';

const BINARY = Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7_919) % 256));

describe.skipIf(lack)(`the repository of a run${lack ? ` (${lack})` : ''}`, () => {
  test('the agent finds a repository in which git works, with the branches of the server', async () => {
    const remote = new Remote();
    remote.tag('v1');
    const { run } = await open({ repo: remote.path, repoCache: folder() });
    expect(git(run.path, 'status', '--short')).toBe('');
    expect(git(run.path, 'log', '--format=%s')).toBe('change');
    expect(git(run.path, 'diff', '--stat', 'origin/main', 'v1')).toBe('');
    expect(git(run.path, 'branch', '--show-current')).toMatch(/^waybill\//);
    writeFileSync(join(run.path, 'x.txt'), 'x');
    git(run.path, 'add', '--all');
    git(run.path, 'commit', '--message', 'by the agent');
    await run.close();
  });

  test('added, changed, removed and binary files are in the commit and in the patch, and ignored ones are not', async () => {
    const remote = new Remote({ 'a.txt': '1\n2\n', 'gone.txt': 'x\n', '.gitignore': 'node_modules\n' });
    const { run, context } = await open({ repo: remote.path, repoCache: folder(), push: true });
    writeFileSync(join(run.path, 'a.txt'), '1\n3\n');
    rmSync(join(run.path, 'gone.txt'));
    writeFileSync(join(run.path, 'data.bin'), BINARY);
    writeFileSync(join(run.path, 'a name with "quotes".txt'), 'x\n');
    mkdirSync(join(run.path, 'node_modules'));
    writeFileSync(join(run.path, 'node_modules', 'x.js'), 'x');
    const { repo } = await run.settle('x', noFix);
    await run.close();
    expect(repo.patch).toMatchObject({ files: 4, insertions: 2, deletions: 2, parts: 1 });
    const names = git(remote.path, 'ls-tree', '-r', '-z', '--name-only', repo.branch!).split('\0').filter(Boolean);
    expect(names.sort()).toEqual(['.gitignore', 'a name with "quotes".txt', 'a.txt', 'data.bin']);
    const other = folder();
    git(other, 'clone', '--quiet', remote.path, '.');
    writeFileSync(join(other, '.git', 'changes.patch'), (await context.files.get(repo.patch!.file!))!);
    git(other, 'apply', '--index', '.git/changes.patch');
    expect(git(other, 'write-tree')).toBe(git(remote.path, 'rev-parse', `${repo.branch}^{tree}`));
    expect(readFileSync(join(other, 'data.bin')).equals(BINARY)).toBe(true);
  });

  test('repositories inside of the working folder are left out, and the rest is kept', async () => {
    const remote = new Remote();
    const { run } = await open({ repo: remote.path, repoCache: folder(), push: true });
    for (const name of ['empty', 'with [odd] name', 'below/another']) {
      mkdirSync(join(run.path, name), { recursive: true });
      git(join(run.path, name), 'init', '--quiet');
      writeFileSync(join(run.path, name, 'x.txt'), 'x');
    }
    const full = join(run.path, 'below/another');
    git(full, 'add', '--all');
    git(full, 'commit', '--quiet', '--message', 'x');
    writeFileSync(join(run.path, 'below/own.txt'), 'own');
    const { repo } = await run.settle('x', noFix);
    const names = git(remote.path, 'ls-tree', '-r', '--name-only', repo.branch!).split('\n');
    expect(names).toEqual(['README.md', 'below/own.txt']);
    await run.close();
  });

  // fault: everything that an agent can leave to make git run a program
  test('what the agent sets for git runs nothing, and submodules stay as they are', async () => {
    const remote = new Remote();
    remote.link('lib');
    const ran = join(folder(), 'ran');
    const filter = `[filter "evil"]\n\tclean = touch ${ran}; cat\n\tsmudge = touch ${ran}; cat\n`;
    const config = `[core]\n\tfsmonitor = touch ${ran}\n\tpager = touch ${ran}\n\thooksPath = hooks\n\tsshCommand = touch ${ran}\n${filter}[diff "evil"]\n\ttextconv = touch ${ran}\n\tcommand = touch ${ran}\n`;
    const files = folderFiles(folder());
    const definition = { repo: remote.path, repoCache: folder(), push: true };
    const first = await open(definition, { files });
    const spoil = (gitDir: string): void => {
      writeFileSync(join(gitDir, 'config'), config);
      mkdirSync(join(gitDir, 'info'), { recursive: true });
      writeFileSync(join(gitDir, 'info', 'attributes'), '* filter=evil diff=evil\n');
      mkdirSync(join(gitDir, 'hooks'), { recursive: true });
      for (const name of ['pre-commit', 'post-checkout', 'post-index-change', 'reference-transaction', 'pre-push'])
        writeFileSync(join(gitDir, 'hooks', name), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    };
    const work = (path: string): void => {
      for (const name of ['lib', 'embedded']) {
        git(path, 'clone', '--quiet', remote.path, name);
        spoil(join(path, name, '.git'));
        writeFileSync(join(path, name, 'README.md'), 'two\n');
      }
      writeFileSync(join(path, 'new.txt'), 'n\n');
      writeFileSync(join(path, '.gitattributes'), '* filter=evil diff=evil\n');
      spoil(join(path, '.git'));
      spoil(join(path, '..', 'git'));
    };
    work(first.run.path);
    await first.run.close();
    // The work of the first run is restored.
    const second = await open(definition, { files });
    work(second.run.path);
    const { repo } = await second.run.settle('x', noFix);
    await second.run.close();
    expect(existsSync(ran)).toBe(false);
    const kept = git(remote.path, 'ls-tree', '-r', repo.branch!)
      .split('\n')
      .map((line) => line.split(/\s/));
    expect(kept.map(([mode, , , name]) => [mode, name])).toEqual([
      ['100644', '.gitattributes'],
      ['100644', 'README.md'],
      ['160000', 'lib'],
      ['100644', 'new.txt'],
    ]);
  });

  test('the next run of a conversation finds the work as it was, although the server has moved on', async () => {
    const remote = new Remote({ 'a.txt': '1\n', 'gone.txt': 'x\n' });
    const files = folderFiles(folder());
    const definition = { repo: remote.path, repoCache: folder() };
    const first = await open(definition, { files });
    const base = git(first.run.path, 'rev-parse', 'HEAD');
    writeFileSync(join(first.run.path, 'a.txt'), '2\n');
    rmSync(join(first.run.path, 'gone.txt'));
    writeFileSync(join(first.run.path, 'new.txt'), 'n\n');
    await first.run.close();
    expect(existsSync(first.run.path)).toBe(false);
    remote.commit({ 'a.txt': 'theirs\n' });
    // On another machine, too.
    const second = await open({ ...definition, repoCache: folder() }, { files, run: 2 });
    expect(git(second.run.path, 'status', '--short').split('\n')).toEqual([' M a.txt', ' D gone.txt', '?? new.txt']);
    expect(readFileSync(join(second.run.path, 'a.txt'), 'utf8')).toBe('2\n');
    expect(git(second.run.path, 'rev-parse', 'HEAD')).toBe(base);
    expect(second.run.resumePrompt()).toContain(second.run.path);
    await second.run.close();
    const other = await open(definition, { files, run: 3, sessionId: 'session-2' });
    expect(readFileSync(join(other.run.path, 'a.txt'), 'utf8')).toBe('theirs\n');
    await other.run.close();
  });

  test('a copy that lacks an object of its commit is made anew', async () => {
    const remote = new Remote({ 'a.txt': 'a\n' });
    const cache = folder();
    const definition = { repo: remote.path, repoCache: cache };
    await (await open(definition)).run.close();
    const repository = join(cache, readdirSync(cache)[0]!);
    const copy = join(repository, readFileSync(join(repository, 'current'), 'utf8'));
    const blob = git(remote.path, 'rev-parse', 'main:a.txt');
    rmSync(join(copy, 'objects', blob.slice(0, 2), blob.slice(2)));
    const { run } = await open(definition);
    expect(readFileSync(join(run.path, 'a.txt'), 'utf8')).toBe('a\n');
    await run.close();
  });

  test('test runs only where lint and typecheck pass, and every command has a limit and an environment of its own', async () => {
    const remote = new Remote();
    const lint = 'echo "lint of $USER_SETTING, $SECRET"; exit 1';
    const feedback = { lint, typecheck: 'sleep 300', test: 'touch ran', rounds: 0, timeout: 500 };
    const worker = { PATH: process.env['PATH'], USER_SETTING: 'mine', SECRET: 'planted-value-1234' };
    const definition = { repo: remote.path, repoCache: folder(), feedback, inheritEnv: ['USER_SETTING'] };
    const { run } = await open({ ...definition, whenFeedbackFails: 'complete' }, { worker });
    const { repo } = await run.settle('x', noFix);
    expect(repo).toMatchObject({ passed: false, branch: null });
    expect(repo.feedback).toMatchObject([
      { name: 'lint', passed: false, exitCode: 1, output: 'lint of mine,' },
      { name: 'typecheck', passed: false, exitCode: null, output: expect.stringContaining('limit of 500 ms') },
    ]);
    expect(existsSync(join(run.path, 'ran'))).toBe(false);
    await run.close();
  });
});
