const LONGEST = 200;

/** What git allows in no name of a branch or tag; a space and a colon among them would be read as more than a name. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const FORBIDDEN = /[\u0000-\u0020\u007f~^:?*[\\]/;

/**
 * Why a name is no name of a branch, tag or commit; null where it is one. Stricter than git in one thing: a name that
 * begins with a hyphen would be an option of the commands that it is given to.
 */
export function problemOfRefName(name: unknown): string | null {
  if (typeof name !== 'string' || name === '') return 'must be a text';
  if (name.length > LONGEST) return `must have at most ${LONGEST} characters`;
  if (name.startsWith('-')) return `must not begin with '-', not '${shown(name)}'`;
  const parts = name.split('/');
  const isRefused =
    FORBIDDEN.test(name) ||
    name.includes('..') ||
    name.includes('@{') ||
    name === '@' ||
    name.endsWith('.') ||
    parts.some((part) => part === '' || part.startsWith('.') || part.endsWith('.lock'));
  return isRefused ? `must be a name that git accepts, such as 'main' or 'fix/typo', not '${shown(name)}'` : null;
}

/** Whether it may be the id of a commit, in full or its beginning. */
export const isCommitId = (name: string): boolean => /^[0-9a-f]{7,64}$/.test(name);

/** Every id of a job is one, whatever characters the caller chose. */
export const branchOfJob = (jobId: string): string => {
  const name = jobId.replace(/[^\w-]+/g, '_').slice(0, 150);
  return `waybill/${name}`;
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: they must not reach a terminal
const shown = (name: string): string => name.slice(0, 80).replace(/[\u0000-\u001f\u007f]/g, '?');
