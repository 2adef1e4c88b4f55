import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { WaybillError } from '@waybill/core';
import { makeRunFolder, type RunFolder, removeLeftFolders } from '@waybill/worker/contained';
import { whileLocked } from './cache-lock.ts';
import type { Git } from './git.ts';
import { isCommitId } from './ref-name.ts';
import type { RepoAddress } from './repo-address.ts';
import { repoFailure } from './repo-failure.ts';

export interface RepoCacheParts {
  /** Of all repositories. */
  base: string;
  address: RepoAddress;
  /** What a command that talks to the server gets besides, such as the token. */
  server: Readonly<Record<string, string>>;
  git: Git;
  signal: AbortSignal;
}

/** A copy as it was when it was locked. */
export interface Mirror {
  path: string;
  /** The commit that the run begins from. */
  commit: string;
  folder: RunFolder;
}

/** Of a command that talks to the server: a first clone takes all of its history. */
export const SERVER_DEADLINE_MS = 10 * 60_000;
const OLD_MS = 7 * 24 * 60 * 60_000;
const HEAD = 'refs/waybill/head';

/** `~/.cache/waybill/repositories`: of the user, not of HOME, which isolated processes have their own of. */
export function defaultRepoCache(env: Readonly<Record<string, string | undefined>>): string {
  if (env['XDG_CACHE_HOME']) return join(env['XDG_CACHE_HOME'], 'waybill', 'repositories');
  try {
    return join(userInfo().homedir, '.cache', 'waybill', 'repositories');
  } catch {
    throw new WaybillError('invalid_request', 'This user has no home folder, so there is no place for repositories.', {
      hint: "Set 'repoCache' of the task to a folder that the worker may write to.",
    });
  }
}

/**
 * The copy of one repository on this machine, which all its workers share:
 * `lock`, `current` (the name of the copy in use), `copy-{id}` (a bare repository), and `runs`.
 *
 * Only this class writes to a copy, and only under the lock. Runs read its objects; what an agent does to the settings,
 * hooks and branches of its own repository never reaches the copy.
 */
export class RepoCache {
  readonly #folder: string;
  readonly #parts: RepoCacheParts;

  constructor(parts: RepoCacheParts) {
    const digest = createHash('sha256').update(parts.address.url).digest('hex').slice(0, 16);
    // Git is told full paths: it looks for others below the folder that it runs in.
    this.#folder = resolve(parts.base, `${parts.address.name}-${digest}`);
    this.#parts = parts;
  }

  /**
   * Fetches, finds the commit, and makes a folder for the run. Removes what dead runs have left.
   * @param base the commit that an earlier run of the job began from
   * @param isBroken whether the copy has turned out to lack something
   */
  async prepare(ref: string | undefined, base: string | undefined, isBroken = false): Promise<Mirror> {
    await mkdir(this.#runs, { recursive: true, mode: 0o700 });
    return await this.#locked(async () => {
      await removeLeftFolders(this.#runs);
      await removeOld(this.#runs);
      const path = isBroken ? await this.#made(ref) : await this.#fetched(ref);
      await this.#removeOthers(path);
      const commit = await this.#commit(path, ref, base);
      return { path, commit, folder: await makeRunFolder(null, this.#runs) };
    });
  }

  /** Keeps a branch of a run in the copy, and pushes it where that is asked for. */
  async keep(runRepository: string, branch: string, pushes: boolean): Promise<void> {
    const { git, server, address } = this.#parts;
    const name = `refs/heads/${branch}`;
    await this.#locked(async () => {
      const gitDir = (await this.#current()) ?? (await this.#made());
      const fetched = ['fetch', '--no-tags', '--no-write-fetch-head', '--', runRepository, `+${name}:${name}`];
      await git.run(fetched, { gitDir, doing: `keep the branch ${branch}` });
      if (!pushes) return;
      await git.run(['push', '--porcelain', '--', address.url, `${name}:${name}`], {
        ...{ gitDir, env: server, deadlineMs: SERVER_DEADLINE_MS },
        doing: `push the branch ${branch}`,
      });
    });
  }

  get #runs(): string {
    return join(this.#folder, 'runs');
  }

  async #locked<T>(work: () => Promise<T>): Promise<T> {
    return await whileLocked(join(this.#folder, 'lock'), this.#parts.signal, work);
  }

  /** A copy that cannot be fetched into although the server answers is broken, so another one takes its place. */
  async #fetched(ref: string | undefined): Promise<string> {
    const { git, server, address } = this.#parts;
    const current = await this.#current();
    if (current === null) return await this.#made(ref);
    try {
      await removeGitLocks(current);
      await this.#fetch(current, ref);
      return current;
    } catch (error) {
      this.#parts.signal.throwIfAborted();
      const answers = await git.ask(['ls-remote', '--heads', '--', address.url], {
        ...{ env: server, deadlineMs: SERVER_DEADLINE_MS, doing: 'reach the repository' },
      });
      if (answers === null) throw error;
      return await this.#made(ref);
    }
  }

  async #made(ref?: string): Promise<string> {
    const path = join(this.#folder, `copy-${randomUUID()}`);
    await this.#parts.git.run(['init', '--quiet', '--bare', '--template=', path], { doing: 'make a copy' });
    await this.#fetch(path, ref);
    await writeFile(join(this.#folder, 'current.new'), path.slice(this.#folder.length + 1));
    await rename(join(this.#folder, 'current.new'), join(this.#folder, 'current'));
    return path;
  }

  async #fetch(gitDir: string, ref: string | undefined): Promise<void> {
    const { git, server, address } = this.#parts;
    const refs = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
    // Without a ref the server says which branch it is; with one it need not have such a branch.
    if (ref === undefined) refs.push(`+HEAD:${HEAD}`);
    const args = ['fetch', '--quiet', '--prune', '--no-tags', '--no-write-fetch-head', '--', address.url, ...refs];
    await git.run(args, {
      ...{ gitDir, env: server, deadlineMs: SERVER_DEADLINE_MS },
      doing: `fetch ${address.url}`,
    });
  }

  /** Null where there is none, or where something removed a part of it. */
  async #current(): Promise<string | null> {
    const name = await readFile(join(this.#folder, 'current'), 'utf8').catch(() => null);
    if (name === null || !/^copy-[\w-]+$/.test(name)) return null;
    const gitDir = join(this.#folder, name);
    const entries = await readdir(gitDir).catch(() => [] as string[]);
    if (!['HEAD', 'config', 'objects', 'refs'].every((entry) => entries.includes(entry))) return null;
    return gitDir;
  }

  /** Copies that were replaced, and those that a killed process did not finish, once no run reads from them. */
  async #removeOthers(current: string): Promise<void> {
    if ((await readdir(this.#runs)).length > 0) return;
    const names = (await readdir(this.#folder)).filter((name) => name.startsWith('copy-'));
    const others = names.map((name) => join(this.#folder, name)).filter((path) => path !== current);
    await Promise.all(others.map((path) => rm(path, { recursive: true, force: true })));
  }

  async #commit(gitDir: string, ref: string | undefined, base: string | undefined): Promise<string> {
    const { git, address, server } = this.#parts;
    const find = (name: string): Promise<string | null> =>
      git.ask(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`], {
        gitDir,
        doing: 'find a commit',
      });
    const asked = base ?? ref;
    const names =
      asked === undefined
        ? [HEAD]
        : [`refs/remotes/origin/${asked}`, `refs/tags/${asked}`, ...(isCommitId(asked) ? [asked] : [])];
    for (const name of names) {
      const found = await find(name);
      if (found) return found;
    }
    // A commit that no branch has any more, which some servers still give.
    if (asked !== undefined && /^[0-9a-f]{40,64}$/.test(asked)) {
      const args = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', address.url, asked];
      await git.ask(args, { gitDir, env: server, deadlineMs: SERVER_DEADLINE_MS, doing: 'fetch a commit' });
      const found = await find(asked);
      if (found) return found;
    }
    const what = asked === undefined ? 'no commit' : `no branch, tag or commit '${asked}'`;
    throw repoFailure(`The repository ${address.url} has ${what}.`);
  }
}

/** Of a run on another machine that shares the folder, nobody here can tell whether it is alive; no run takes so long. */
async function removeOld(runs: string): Promise<void> {
  for (const name of await readdir(runs)) {
    const path = join(runs, name);
    const made = await stat(path).catch(() => null);
    if (made !== null && Date.now() - made.mtimeMs > OLD_MS) await rm(path, { recursive: true, force: true });
  }
}

/** Left by a git process that was killed. Nobody else writes to the copy while it is locked. */
async function removeGitLocks(gitDir: string): Promise<void> {
  const entries = await readdir(gitDir, { recursive: true, withFileTypes: true });
  const locks = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.lock'));
  await Promise.all(locks.map((entry) => rm(join(entry.parentPath, entry.name), { force: true })));
}
