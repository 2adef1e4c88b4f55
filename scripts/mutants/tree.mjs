// A copy of the project in a temporary folder, in which files may be changed without touching the working tree.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { linkModules } from '../../bench/against/link-modules.ts';

/** Copies what git knows or would add, and what was built of it. Dependencies are linked. Answers the folder. */
export function copyTree(root) {
  const tree = realpathSync(mkdtempSync(path.join(tmpdir(), 'waybill-mutants-')));
  process.once('exit', () => rmSync(tree, { recursive: true, force: true, maxRetries: 3 }));
  const copy = (file) =>
    // The build goes by the times of files.
    cpSync(path.join(root, file), path.join(tree, file), { recursive: true, preserveTimestamps: true });
  const listed = execFileSync('git', ['ls-files', '-coz', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  for (const file of listed.split('\0')) if (file !== '' && existsSync(path.join(root, file))) copy(file);
  for (const name of readdirSync(path.join(root, 'packages'))) {
    for (const built of ['dist', 'tsconfig.tsbuildinfo']) {
      if (existsSync(path.join(root, 'packages', name, built))) copy(path.join('packages', name, built));
    }
  }
  linkModules({ root: realpathSync(root), tree, inside: 'node_modules' });
  return tree;
}
