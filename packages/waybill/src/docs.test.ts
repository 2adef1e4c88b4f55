import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
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

test.each(examples)('$name runs as it stands there', async ({ name, kind, code }) => {
  const file = path.join(folder, `${name.replaceAll(/\W+/g, '-')}.${ENDINGS[kind]}`);
  writeFileSync(file, code);
  const env = { ...process.env, ...(code.includes('DATABASE_URL') && { DATABASE_URL: await tempDatabase() }) };
  const settings = { cwd: folder, env, encoding: 'utf8', timeout: 25_000 } as const;
  const { status, stderr } = spawnSync(process.execPath, [file], settings);
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
