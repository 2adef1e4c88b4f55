import type { Git, GitCall } from './git.ts';

/**
 * Keeps the links of submodules as they are, whatever is in their folders: to look for changes there git would run a command
 * inside, with the settings and filters of a repository that the agent may have made.
 */
export async function passOverLinks(git: Git, call: GitCall): Promise<void> {
  const listed = (await git.run(['ls-files', '--stage', '-z'], call)).split('\0');
  const links = listed.filter((line) => line.startsWith('160000 ')).map((line) => line.slice(line.indexOf('\t') + 1));
  if (links.length === 0) return;
  await git.run(['update-index', '--skip-worktree', '-z', '--stdin'], { ...call, stdin: `${links.join('\0')}\0` });
}

/** What `git add` says of a repository in the folder: it would keep the id of its commit, and none of its files. */
const NESTED =
  /^(?:warning: adding embedded git repository: (.+?)\/?|error: '(.+?)\/?' does not have a commit checked out)$/gm;

/** Folders below the working folder that are repositories themselves. */
export const nestedIn = (said: string): string[] => [
  ...new Set([...said.matchAll(NESTED)].map(([, withCommit, without]) => (withCommit ?? without)!)),
];

/** A line of a list of ignored files that names exactly this folder. */
export const ignoreLine = (path: string): string => `/${path.replace(/[\\*?[\]!# ]/g, '\\$&')}/\n`;
