import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { folder } from './testing/agent.ts';

const root = resolve(import.meta.dirname, '../../..');

test('npm run example:agent works without a key, and shows what its agent does', async () => {
  const tmp = await folder();
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, TMPDIR: tmp };
  // The command of the script, without its compiler.
  const script = resolve(root, 'scripts/example-agent.mjs');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script], { cwd: root, env, timeout: 90_000 });
  const trace = /^Trace: (.*)$/m.exec(stdout)![1]!;
  onTestFinished(() => rm(resolve(trace, '../..'), { recursive: true, force: true }));
  expect(stderr).toBe('');
  const lines = stdout.split('\n');
  expect(lines[0]).toBe('No key is set, so a scripted model answers.');
  expect(stdout).toMatch(/^ {2}begins session [\w-]+, attempt 1$/m);
  expect(stdout).toMatch(/^ {2}calls Bash \{"command":"wc -l \*\.mjs"\}$/m);
  expect(stdout).toMatch(/^ {2}Bash completed after \d+ ms: /m);
  expect(stdout).toMatch(/^[\w-]+\.mjs has \d+ lines\.\n2 turns, 2160 tokens, [\d.]+ USD$/m);
  expect(JSON.parse(await readFile(trace, 'utf8'))).toMatchObject({ toolCalls: [{ name: 'Bash' }, {}] });
});
