import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Cloud, startCloud } from '@waybill/aws/cloud';
import { afterAll, expect, test } from 'vitest';
import { docExamples, needsAgentSdk, writeExample } from './testing/doc-examples.ts';
import { tempDatabase } from './testing/temp-database.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
// Inside of the repository, so that the packages are found under their own names.
const folder = mkdtempSync(path.join(root, '.docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const examples = docExamples();

/** An example under a name of its own runs where another one imports it, and is else a program that does not end. */
const isImported = ({ fileName }: { fileName: string | undefined }): boolean =>
  fileName !== undefined && examples.some(({ code }) => code.includes(`import('./${fileName}')`));
// packages/agent/real runs those that need the Claude Agent SDK.
const runnable = examples.filter((example) => !isImported(example) && !needsAgentSdk(example));

test('there are examples to run', () => {
  expect(examples.length).toBeGreaterThan(5);
});

/** Some examples fail or show no key on purpose, and the default logger tells of it. */
const FAILED_RUN =
  /^\S+Z WARN {2}waybill: (?:Job \S+ \S+ (?:failed|was discarded|became a dead letter)|The failed run of task|Refused a caller with 401:) .*\n/gm;

/** Skipped only where Java is missing, and that nobody accepts in CI. */
const canRunCloud = spawnSync('java', ['-version']).status === 0 || process.env['CI'] === 'true';
let cloud: Promise<Cloud> | undefined;
afterAll(async () => (await cloud)?.stop());

/** One for all examples that speak to AWS. */
async function cloudEnv(): Promise<Record<string, string>> {
  cloud ??= startCloud();
  return (await cloud).env;
}

test.for(runnable)('$name runs as it stands there', { timeout: 120_000 }, async (example, { skip }) => {
  const { code } = example;
  const isOnAws = code.includes('WAYBILL_STORE');
  skip(isOnAws && !canRunCloud, 'needs Java 17');
  for (const imported of examples.filter(isImported))
    writeFileSync(path.join(folder, imported.fileName!), imported.code);
  const file = writeExample(folder, example);
  const env = {
    ...process.env,
    ...(code.includes('DATABASE_URL') && { DATABASE_URL: await tempDatabase() }),
    ...(isOnAws && (await cloudEnv())),
  };
  // Rejects when it does not end with 0. Part of the cloud runs in this process, so it must not be blocked.
  const { stderr } = await promisify(execFile)(process.execPath, [file], { cwd: folder, env, timeout: 60_000 });
  expect(stderr.replaceAll(FAILED_RUN, '')).toBe('');
});

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
