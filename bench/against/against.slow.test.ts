import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

function hasCommit(): boolean {
  try {
    execFileSync('git', ['rev-parse', '--verify', '--quiet', 'HEAD'], { cwd: path.dirname(MAIN), stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Only a clone of the project has commits to compare with. */
const inClone = test.skipIf(!process.env['CI'] && !hasCommit());

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'waybill-against-')));
  mkdirSync(path.join(folder, 'runs'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function bench(options: string[], npm?: string): ChildProcess & { stdout: object } {
  if (npm !== undefined) writeFileSync(path.join(folder, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
  const env = {
    ...process.env,
    PATH: `${folder}${path.delimiter}${process.env['PATH']}`,
    WAYBILL_BENCH_DIR: path.join(folder, 'runs'),
  };
  return spawn(process.execPath, [MAIN, '--against', 'HEAD', ...options], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function outcome(child: ChildProcess) {
  const [out, err, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'exit')]);
  return { out, err, code };
}

function expectNothingLeft(): void {
  expect(readdirSync(path.join(folder, 'runs'))).toEqual([]);
  const worktrees = execFileSync('git', ['worktree', 'list', '--porcelain'], {
    cwd: path.dirname(MAIN),
    encoding: 'utf8',
  });
  expect(worktrees).not.toContain(folder);
}

inClone('both builds run every workload, and the worktree is gone afterwards', { timeout: 240_000 }, async () => {
  const small = ['--rounds', '1', '--scale', '0.001', '--workload', 'drain', '--workload', 'enqueue-one'];
  const { out, err, code } = await outcome(bench([...small, '--at-least', '0.000001']));
  expect(err).toContain('drain: round 1 of 1');
  const told = out.split('\n');
  expect(told[2]).toMatch(/^drain {8}\d.*of HEAD {3}ok: at least 0\.00$/);
  expect(told[3]).toMatch(/^ {2}this {2}[\d,.]+ jobs\/s$/);
  expect(told[4]).toMatch(/^ {2}HEAD {2}[\d,.]+ jobs\/s$/);
  expect(told[5]).toMatch(/^enqueue-one {2}\d.*of HEAD/);
  expect(code).toBe(0);
  expectNothingLeft();
});

inClone('a build that fails leaves no worktree', { timeout: 60_000 }, async () => {
  const { err, code } = await outcome(bench([], 'exit 3'));
  expect(err).toContain('npm run --silent build ended with 3.');
  expect(code).toBe(1);
  expectNothingLeft();
});

inClone('an interrupted build leaves no worktree', { timeout: 60_000 }, async () => {
  const child = bench([], 'echo waiting >&2; exec sleep 600');
  child.stderr!.on('data', (chunk) => {
    if (String(chunk).includes('waiting')) child.kill('SIGINT');
  });
  const { err, code } = await outcome(child);
  expect(err).toContain('The benchmark was ended by SIGINT.');
  expect(code).toBe(130);
  expectNothingLeft();
});

test('an unknown revision is refused before anything is built', { timeout: 60_000 }, async () => {
  const { err, code } = await outcome(bench(['--against', 'no-such-branch']));
  if (hasCommit()) expect(err).toContain("bench: Unknown revision 'no-such-branch'. Use a commit, branch or tag");
  else expect(err).toContain('--against needs git and a clone of the project');
  expect(code).toBe(2);
});
