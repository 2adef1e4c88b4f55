import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Cloud, startCloud } from '@waybill/aws/cloud';
import { afterAll, expect, test } from 'vitest';
import { tempDatabase } from './testing/temp-database.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const docs = path.join(root, 'docs');
// Inside of the repository, so that the packages are found under their own names.
const folder = mkdtempSync(path.join(root, '.docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const examples = readdirSync(docs)
  .filter((file) => file.endsWith('.md'))
  .flatMap((file) => {
    const blocks = [...readFileSync(path.join(docs, file), 'utf8').matchAll(/```(js|cjs|ts)\n([\s\S]*?)```/g)];
    return blocks.map(([, kind, code], index) => ({ name: `${file} ${index + 1}`, kind: kind!, code: code! }));
  });

/** How Node tells the kinds of code apart; it runs TypeScript by leaving the types out. */
const ENDINGS: Record<string, string> = { js: 'mjs', cjs: 'cjs', ts: 'mts' };

test('there are examples to run', () => {
  expect(examples.length).toBeGreaterThan(5);
});

/** Some examples fail on purpose, and the default logger tells of it. */
const FAILED_RUN =
  /^\S+Z WARN {2}waybill: (?:Job \S+ \S+ (?:failed|was discarded|became a dead letter)|The failed run of task) .*\n/gm;

/** Skipped only where Java is missing, and that nobody accepts in CI. */
const canRunCloud = spawnSync('java', ['-version']).status === 0 || process.env['CI'] === 'true';
let cloud: Promise<Cloud> | undefined;
afterAll(async () => (await cloud)?.stop());

/** One for all examples that speak to AWS. */
async function cloudEnv(): Promise<Record<string, string>> {
  cloud ??= startCloud();
  return (await cloud).env;
}

test.for(examples)('$name runs as it stands there', { timeout: 120_000 }, async ({ name, kind, code }, { skip }) => {
  const isOnAws = code.includes('WAYBILL_STORE');
  skip(isOnAws && !canRunCloud, 'needs Java 17');
  const file = path.join(folder, `${name.replaceAll(/\W+/g, '-')}.${ENDINGS[kind]}`);
  writeFileSync(file, code);
  const env = {
    ...process.env,
    ...(code.includes('DATABASE_URL') && { DATABASE_URL: await tempDatabase() }),
    ...(isOnAws && (await cloudEnv())),
  };
  // Rejects when it does not end with 0. Part of the cloud runs in this process, so it must not be blocked.
  const { stderr } = await promisify(execFile)(process.execPath, [file], { cwd: folder, env, timeout: 60_000 });
  expect(stderr.replaceAll(FAILED_RUN, '')).toBe('');
});
