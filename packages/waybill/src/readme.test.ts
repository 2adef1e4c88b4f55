import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

test('the lines of the README run as they stand there', () => {
  const [, code] = /```js\n([\s\S]*?)```/.exec(readFileSync(path.join(root, 'README.md'), 'utf8'))!;
  // Inside of the repository, so that the package is found under its own name.
  const folder = mkdtempSync(path.join(root, '.readme-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(path.join(folder, 'hello.mjs'), code!);
  const { status, stdout, stderr } = spawnSync(process.execPath, ['hello.mjs'], { cwd: folder, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  // The worker of the same process may begin before the answer of the enqueue has been printed.
  const lines = stdout.split('\n');
  expect(lines.slice(0, 2).sort()).toEqual([
    expect.stringMatching(/^enqueued \S+$/),
    'sending to ada@example.com attempt 1',
  ]);
  expect(lines.slice(2)).toEqual(['result { sent: true }', '']);
});
