import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { memoryFiles } from '../run-files.ts';
import { Redactor } from '../security/redactor.ts';
import { RunFolder, requestIdOf } from './run-folder.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'waybill-run-folder-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test('the id of the job names the folder, and from the second run on the run too', () => {
  expect(requestIdOf({ id: '0197', run: 1 })).toBe('0197');
  expect(requestIdOf({ id: '0197', run: 3 })).toBe('0197-run-3');
});

test('a name leads nowhere else, and fits into a file system', () => {
  expect(requestIdOf({ id: '../../etc/passwd', run: 1 })).toBe('__.._etc_passwd');
  expect(requestIdOf({ id: 'x'.repeat(500), run: 12 })).toMatch(/^x{180}-run-12$/);
});

test('artifacts, log and trace are in folders of their own, and are kept under task/logs', async () => {
  const base = folder();
  const run = new RunFolder(base, 'r1', new Redactor({ KEY: 'planted-value' }), 'report.json');
  run.note('it said planted-value\nand more');
  await run.writeResult({ said: 'planted-value' });
  await run.writeTrace({ toolCalls: [] });
  const files = memoryFiles();
  await run.keepIn(files);
  const kept = async (name: string) => Buffer.from((await files.get(`task/logs/r1/${name}`))!).toString();
  expect(await kept('logs/summary.log')).toMatch(/^\d{4}-\S+Z it said \*\*\* and more\n$/);
  expect(JSON.parse(await kept('artifacts/report.json'))).toEqual({ said: '***' });
  expect(await kept('traces/session_trace.json')).toBe(
    readFileSync(join(base, 'r1/traces/session_trace.json'), 'utf8'),
  );
  await run.remove();
  expect(existsSync(join(base, 'r1'))).toBe(false);
});

test('what a run did not come to write is not kept, and a long name of a request is cut', async () => {
  const run = new RunFolder(folder(), 'r'.repeat(256), new Redactor({}));
  run.note('killed');
  const files = memoryFiles();
  await run.keepIn(files);
  expect(await files.get(`task/logs/${'r'.repeat(200)}/logs/summary.log`)).not.toBeNull();
  expect(await files.get(`task/logs/${'r'.repeat(200)}/artifacts/task-result.json`)).toBeNull();
});

test('a run goes on when its files were replaced by FIFOs, and keeps what it has written', async () => {
  const base = folder();
  const run = new RunFolder(base, 'r1', new Redactor({}));
  const names = ['logs/summary.log', 'artifacts/task-result.json', 'traces/session_trace.json'];
  for (const name of names) {
    const path = join(base, 'r1', name);
    rmSync(path, { force: true });
    execFileSync('mkfifo', [path]);
  }
  run.note('tool Bash completed');
  await run.writeResult('done');
  await run.writeTrace({ toolCalls: [] });
  const files = memoryFiles();
  await run.keepIn(files);
  for (const name of names) expect(await files.get(`task/logs/r1/${name}`)).not.toBeNull();
  // The next run under the same name.
  new RunFolder(base, 'r1', new Redactor({})).note('again');
  expect(readFileSync(join(base, 'r1/logs/summary.log'), 'utf8')).toContain('again');
});

test('nothing is written or kept through a link that the agent has put there, nor what it wrote itself', async () => {
  const base = folder();
  const outside = join(base, 'credentials');
  writeFileSync(outside, 'planted-value');
  const run = new RunFolder(base, 'r1', new Redactor({}));
  run.note('begun');
  for (const name of ['logs/summary.log', 'artifacts/task-result.json', 'traces/session_trace.json']) {
    rmSync(join(base, 'r1', name), { force: true });
    symlinkSync(outside, join(base, 'r1', name));
  }
  run.note('went on');
  await run.writeTrace({ toolCalls: [] });
  await run.writeResult('done');
  writeFileSync(join(base, 'r1/traces/session_trace.json'), 'planted-value');
  const files = memoryFiles();
  await run.keepIn(files);
  expect(readFileSync(outside, 'utf8')).toBe('planted-value');
  const kept = async (name: string) => Buffer.from((await files.get(`task/logs/r1/${name}`))!).toString();
  expect(await kept('artifacts/task-result.json')).toBe('"done"\n');
  expect(JSON.parse(await kept('traces/session_trace.json'))).toEqual({ toolCalls: [] });
  expect(await kept('logs/summary.log')).toMatch(/begun\n.*went on\n$/);
});
