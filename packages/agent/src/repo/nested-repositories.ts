/** What `git add` says of a repository in the folder: it would keep the id of its commit, and none of its files. */
const NESTED =
  /^(?:warning: adding embedded git repository: (.+?)\/?|error: '(.+?)\/?' does not have a commit checked out)$/gm;

/** Folders below the working folder that are repositories themselves. */
export const nestedIn = (said: string): string[] => [
  ...new Set([...said.matchAll(NESTED)].map(([, withCommit, without]) => (withCommit ?? without)!)),
];

/** A line of a list of ignored files that names exactly this folder. */
export const ignoreLine = (path: string): string => `/${path.replace(/[\\*?[\]!# ]/g, '\\$&')}/\n`;
