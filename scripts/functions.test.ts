import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { docExamples } from '../packages/waybill/src/testing/doc-examples.ts';
import { embed } from './embed.mjs';

const run = promisify(execFile);
const LARGEST = 5 * 1024 * 1024;

const folder = mkdtempSync(path.join(tmpdir(), 'waybill-functions-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const functions = docExamples()
  .filter(({ name, code }) => name.startsWith('functions.md') && code.includes('handler ='))
  .map(({ name, code }) => ({ name, code, file: name.replaceAll(/\W+/g, '-') }));

/** One file for each, made at once, since they have most of their parts in common. */
beforeAll(async () => {
  await embed();
  mkdirSync(path.join(folder, 'src'));
  for (const { code, file } of functions) writeFileSync(path.join(folder, 'src', `${file}.js`), code);
  await build({
    entryPoints: functions.map(({ file }) => path.join(folder, 'src', `${file}.js`)),
    nodePaths: [fileURLToPath(new URL('../node_modules', import.meta.url))],
    ...{ outdir: path.join(folder, 'out'), outExtension: { '.js': '.cjs' }, format: 'cjs', bundle: true },
    ...{ minify: true, platform: 'node', target: 'node22', logOverride: { 'empty-import-meta': 'silent' } },
  });
});

test('docs/functions.md shows every handler', () => {
  const shown = functions.flatMap(({ code }) => /handler = (\w+)\(/.exec(code)?.[1] ?? []);
  expect(new Set(shown).size).toBe(10);
});

test.each(functions)('the function of $name is one file under 5 MB, which can be loaded alone', async ({ file }) => {
  const bundle = path.join(folder, 'out', `${file}.cjs`);
  expect(statSync(bundle).size).toBeLessThan(LARGEST);
  const { PATH = '' } = process.env;
  const loads = `process.stdout.write(typeof require(${JSON.stringify(bundle)}).handler)`;
  const { stdout } = await run(process.execPath, ['-e', loads], { cwd: folder, env: { PATH } });
  expect(stdout).toBe('function');
});
