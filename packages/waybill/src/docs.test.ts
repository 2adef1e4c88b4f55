import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { docExamples, firstOfPages } from './testing/doc-examples.ts';
import { docsFolder, testDocExamples } from './testing/test-doc-examples.ts';

const folder = docsFolder();
const examples = docExamples();

test('there are examples to run', () => {
  expect(firstOfPages().length).toBeGreaterThan(5);
});

// The others are in docs.slow.test.ts.
testDocExamples(firstOfPages(), folder);

test('the receiver of webhooks does not start without its secret', async () => {
  const file = path.join(folder, 'receiver.mjs');
  writeFileSync(file, examples.find(({ fileName }) => fileName === 'receiver.mjs')!.code);
  const { WEBHOOK_SECRET: _, ...env } = process.env;
  const run = promisify(execFile)(process.execPath, [file], {
    cwd: folder,
    env: { ...env, PORT: '0' },
    timeout: 60_000,
  });
  await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('Set WEBHOOK_SECRET') });
});

test('no example has a secret of its own for a variable that is missing', () => {
  const fallbacks = examples.filter(({ code }) => /process\.env\.\w*(SECRET|KEY|TOKEN)\w* *(\?\?|\|\|)/.test(code));
  expect(fallbacks.map(({ name }) => name)).toEqual([]);
});

test('the receiver of webhooks answers 500 where its own work fails, so that the event comes again', async () => {
  const receiver = examples.find(({ fileName }) => fileName === 'receiver.mjs')!.code;
  const tried = examples.find(({ fileName }) => fileName === 'try-receiver.mjs')!.code;
  const own = path.join(mkdtempSync(path.join(folder, 'failing-')), 'try-receiver.mjs');
  writeFileSync(
    path.join(path.dirname(own), 'receiver.mjs'),
    receiver.replace('seen.add(id);', "throw new Error('full');"),
  );
  writeFileSync(own, tried.replaceAll('204', '500'));
  await promisify(execFile)(process.execPath, [own], { timeout: 60_000 });
});
