import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const script = fileURLToPath(new URL('./check-layers.mjs', import.meta.url));

/** Checks a tree that has only these files, named from `packages` on. Answers the breaches. */
function check(files: Record<string, string>): string[] {
  const root = mkdtempSync(path.join(tmpdir(), 'waybill-layers-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, 'packages', name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    writeFileSync(path.join(root, 'packages', name.split('/')[0]!, 'package.json'), '{}');
  }
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: root, encoding: 'utf8' });
  const breaches = stderr.split('\n').filter(Boolean);
  expect(status).toBe(breaches.length === 0 ? 0 : 1);
  return breaches;
}

test('files that import each other are a breach, even if only their types do', () => {
  const files = {
    'core/src/a.ts': "import type { B } from './b.ts';",
    'core/src/b.ts': "export type { A } from './a.ts';",
  };
  expect(check(files)).toEqual([
    'import cycle: packages/core/src/a.ts -> packages/core/src/b.ts -> packages/core/src/a.ts',
  ]);
  expect(check({ ...files, 'core/src/b.ts': "import { c } from './c.ts';", 'core/src/c.ts': '' })).toEqual([]);
});

test('test files and test helpers may have no cycle either', () => {
  const breaches = check({
    'core/src/x.test.ts': "import { help } from './testing/help.ts';",
    'core/src/testing/help.ts': "export const help = () => import('../x.test.ts');",
  });
  expect(breaches).toEqual([
    'import cycle: packages/core/src/testing/help.ts -> packages/core/src/x.test.ts -> packages/core/src/testing/help.ts',
  ]);
});

test('of files that are tangled the shortest cycle is told first, and each cycle once', () => {
  const breaches = check({
    'core/src/a.ts': "import './b.ts';",
    'core/src/b.ts': "import './c.ts';",
    'core/src/c.ts': "import './a.ts';\nimport './d.ts';",
    'core/src/d.ts': "import './c.ts';\nimport './free.ts';",
    'core/src/free.ts': '',
    'core/src/y.ts': "import './z.ts';",
    'core/src/z.ts': "import './y.ts';",
  });
  expect(breaches.map((line) => line.replaceAll('packages/core/src/', ''))).toEqual([
    'import cycle: c.ts -> d.ts -> c.ts',
    'import cycle: a.ts -> b.ts -> c.ts -> a.ts',
    'import cycle: y.ts -> z.ts -> y.ts',
  ]);
});

test('a Proxy is a breach outside of tests', () => {
  const proxy = 'export const wrap = (store: object) => new Proxy(store, {});';
  const why = "has 'new Proxy(': no Proxy around a store: write a delegating class";
  expect(check({ 'server/src/wrap.ts': proxy })).toEqual([`packages/server/src/wrap.ts: ${why}`]);
  expect(check({ 'core/src/store/other.ts': proxy })).toEqual([`packages/core/src/store/other.ts: ${why}`]);
  expect(check({ 'core/src/wrap.test.ts': proxy, 'core/src/testing/wrap.ts': proxy })).toEqual([]);
  expect(check({ 'core/src/wrap.ts': 'export class Wrap implements Store {}' })).toEqual([]);
});

test.each(['store.apply(', 'this.#store.apply(', 'parts.innerStore.apply(', 'inner.apply(', 'target!.apply('])(
  'a call of %s is a breach outside of tests and of the listed files',
  (call) => {
    const text = `export const write = () => ${call}[]);`;
    const found = check({ 'core/src/settle/write.ts': text });
    expect(found).toEqual([expect.stringMatching(/^packages\/core\/src\/settle\/write.ts: has '.*apply\('/)]);
    expect(check({ 'core/src/write.test.ts': text, 'core/src/testing/write.ts': text })).toEqual([]);
    expect(check({ 'core/src/commit/any-file.ts': text, 'core/src/blobs/offloaded-store.ts': text })).toEqual([]);
  },
);

test('other calls of the name apply are none', () => {
  expect(check({ 'core/src/x.ts': 'export const x = () => [sleep.apply(null), apply(base), rows.apply(1)];' })).toEqual(
    [],
  );
});
