import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { linkModules } from './link-modules.ts';

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'waybill-links-')));
afterEach(() => rmSync(folder, { recursive: true }));

test("dependencies lead to this project, and the project's own packages into the tree", () => {
  const [root, tree] = [path.join(folder, 'root'), path.join(folder, 'tree')];
  const make = (...files: string[]) => {
    for (const file of files) {
      mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
      writeFileSync(path.join(folder, file), '');
    }
  };
  make('root/node_modules/pg/index.js', 'root/node_modules/@types/node/index.d.ts', 'root/node_modules/.cache/old');
  make('root/packages/core/index.js', 'root/packages/core/node_modules/zod/index.js', 'tree/packages/core/index.js');
  mkdirSync(path.join(root, 'node_modules/@waybill'));
  symlinkSync('../../packages/core', path.join(root, 'node_modules/@waybill/core'));

  linkModules({ root, tree, inside: 'node_modules' });

  const target = (file: string) => path.relative(folder, realpathSync(path.join(tree, file)));
  expect(target('node_modules/pg')).toBe('root/node_modules/pg');
  expect(target('node_modules/@types/node')).toBe('root/node_modules/@types/node');
  expect(target('node_modules/@waybill/core')).toBe('tree/packages/core');
  expect(target('packages/core/node_modules/zod')).toBe('root/packages/core/node_modules/zod');
  expect(existsSync(path.join(tree, 'node_modules/.cache'))).toBe(false);
});
