import { execFileSync } from 'node:child_process';
import { fileAt } from '../paths.ts';

export interface Revision {
  /** As the caller wrote it; a hash is shortened. */
  name: string;
  commit: string;
}

const SHORT = 7;

/** Set by git while it runs a hook; they would direct a command at another index or tree. */
const HOOK_VARIABLES = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX'];

/** Runs git in the project's folder and returns what it printed. */
export function git(...args: string[]): string {
  const env = { ...process.env };
  for (const name of HOOK_VARIABLES) delete env[name];
  return execFileSync('git', args, {
    ...{ cwd: fileAt('.'), env, encoding: 'utf8', maxBuffer: 2 ** 26 },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Throws with a message for people when there is no such commit. */
export function revisionOf(name: string): Revision {
  try {
    git('rev-parse', '--git-dir');
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new Error(`--against needs git and a clone of the project: ${(stderr || message).trim()}`);
  }
  try {
    const commit = git('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`).trim();
    return { name: commit.startsWith(name) ? commit.slice(0, SHORT) : name, commit };
  } catch {
    throw new Error(
      `Unknown revision '${name}'. Use a commit, branch or tag of this clone. ` +
        'If the clone is shallow, run `git fetch --unshallow` first.',
    );
  }
}

export const shortOf = ({ commit }: Revision): string => commit.slice(0, SHORT);

/** The commit of the working tree, and whether its files differ from that commit. */
export function workingTree(): string {
  const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
  return `${shortOf(revisionOf('HEAD'))}${changed ? ' with uncommitted changes' : ''}`;
}
