import { spawn } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ended } from '../child.ts';
import { fileAt, scriptAt } from '../paths.ts';
import { linkModules } from './link-modules.ts';
import { git, type Revision, shortOf } from './revision.ts';

const LOCK = 'package-lock.json';

/**
 * Builds a revision below `folder` and returns the path of its `run-one` script: the script of this commit, in a tree
 * whose packages are those of the revision. The tree is removed when the process exits, for whatever reason.
 */
export async function refBuild(revision: Revision, folder: string, signal: AbortSignal): Promise<string> {
  const root = realpathSync(fileAt('.'));
  const tree = path.join(realpathSync(folder), 'ref');
  const step = (what: string) => console.error(`${revision.name} (${shortOf(revision)}): ${what}`);
  step('checking out');
  process.prependListener('exit', () => removeWorktree(tree));
  git('-c', `core.hooksPath=${path.join(folder, 'no-hooks')}`, 'worktree', 'add', '--detach', tree, revision.commit);
  if (readFileSync(path.join(tree, LOCK), 'utf8') === readFileSync(path.join(root, LOCK), 'utf8'))
    linkModules({ root, tree, inside: 'node_modules' });
  else {
    step(`installing its dependencies, because its ${LOCK} differs`);
    // The harness needs no package's install script; the project's own one would build twice.
    await npm(tree, ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], signal);
  }
  step('building');
  await npm(tree, ['run', '--silent', 'build'], signal);
  for (const name of ['waybill', '@waybill/core']) checkOwnPackage(tree, name);
  return copyHarness(root, tree);
}

async function npm(cwd: string, args: string[], signal: AbortSignal): Promise<void> {
  // Results go to stdout, so everything else goes to stderr.
  const child = spawn('npm', args, {
    ...{ cwd, stdio: ['ignore', process.stderr, 'inherit'] },
    shell: process.platform === 'win32',
  });
  await ended(child, `npm ${args.join(' ')}`, signal);
}

/** A package that were resolved from another folder would make the comparison one of this build with itself. */
function checkOwnPackage(tree: string, name: string): void {
  const link = path.join(tree, 'node_modules', name);
  if (!existsSync(link)) throw new Error(`The revision has no package '${name}', which the benchmarks call.`);
  const found = realpathSync(link);
  if (!found.startsWith(tree + path.sep)) throw new Error(`'${name}' of the revision was resolved to ${found}.`);
}

/** The same workloads drive both builds. They are copied as they run here, so no types of the revision matter. */
function copyHarness(root: string, tree: string): string {
  const script = path.relative(root, realpathSync(scriptAt('run-one')));
  const isOurs = (file: string) => path.basename(file) !== 'node_modules';
  for (const entry of readdirSync(path.join(tree, 'bench')).filter(isOurs))
    rmSync(path.join(tree, 'bench', entry), { recursive: true });
  for (const part of ['bench/package.json', path.dirname(script)])
    cpSync(path.join(root, part), path.join(tree, part), { recursive: true, filter: isOurs });
  return path.join(tree, script);
}

function removeWorktree(tree: string): void {
  try {
    git('worktree', 'remove', '--force', '--force', tree);
  } catch {
    // Not registered yet, or partly removed: git forgets a worktree whose folder is gone.
  }
  rmSync(tree, { recursive: true, force: true, maxRetries: 3 });
}
