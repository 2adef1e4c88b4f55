import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const FOLDER = path.join(import.meta.dirname, '..');
const BIN = path.join(FOLDER, '../../node_modules/.bin');

/** Where the plugin is found, too. */
const buf = (...args: string[]): string =>
  execFileSync(path.join(BIN, 'buf'), args, {
    cwd: FOLDER,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${BIN}${path.delimiter}${process.env['PATH']}` },
  });

const filesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .map((file) => [path.relative(folder, file), readFileSync(file, 'utf8')]),
  );

test('the definitions keep to the rules of buf', () => {
  expect(buf('lint')).toBe('');
});

test('the generated code is what the definitions say: after a change, npm run proto', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-proto-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const template = path.join(folder, 'buf.gen.yaml');
  const out = path.join(folder, 'gen');
  writeFileSync(template, readFileSync(path.join(FOLDER, 'buf.gen.yaml'), 'utf8').replace('src/gen', out));
  buf('generate', '--template', template);
  expect(filesIn(out)).toEqual(filesIn(path.join(FOLDER, 'src/gen')));
});
