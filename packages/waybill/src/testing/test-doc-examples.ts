import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Cloud, startCloud } from '@waybill/aws/cloud';
import { afterAll, expect, test } from 'vitest';
import { type DocExample, docExamples, isImported, writeExample } from './doc-examples.ts';
import { tempDatabase } from './temp-database.ts';

const root = path.resolve(import.meta.dirname, '../../../..');

/** A folder inside of the repository, so that the packages are found under their own names. */
export function docsFolder(): string {
  const folder = mkdtempSync(path.join(root, '.docs-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Some examples fail or show no key on purpose, and the default logger tells of it. */
const FAILED_RUN =
  /^\S+Z WARN {2}waybill: (?:Job \S+ \S+ (?:failed|was discarded|became a dead letter)|The failed run of task|Refused a caller with 401:) .*\n/gm;

/** Skipped only where Java is missing, and that nobody accepts in CI. */
const canRunCloud = spawnSync('java', ['-version']).status === 0 || process.env['CI'] === 'true';

/** That each of these programs runs as it stands there. */
export function testDocExamples(runnable: readonly DocExample[], folder: string): void {
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
    for (const imported of docExamples().filter((one) => isImported(one)))
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
}
