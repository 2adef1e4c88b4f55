import { appendFile, cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git, GitCall } from './git.ts';
import { ignoreLine, nestedIn, passOverLinks } from './nested-repositories.ts';
import type { Mirror } from './repo-cache.ts';

export interface Author {
  name: string;
  email: string;
}

export interface RunRepositoryParts {
  mirror: Mirror;
  branch: string;
  author: Author;
  git: Git;
}

/** What has changed, as git counts it. Binary files have no lines. */
export interface ChangeCounts {
  files: number;
  insertions: number;
  deletions: number;
}

const WORK = 'refs/waybill/work';
const MOST_TRIES = 3;
/** Git tells of some of them one by one. */
const MOST_NESTED = 50;

/**
 * The repository of one run: a working folder for the agent, and beside it a repository of ours that takes what is there.
 * The agent's own `.git` is a copy that we never read again: its settings and filters could make git run any program.
 */
export class RunRepository {
  /** Where the agent works. */
  readonly path: string;
  readonly gitDir: string;
  readonly base: string;
  readonly branch: string;
  readonly #author: Author;
  readonly #git: Git;
  /** What the branch points to: a commit of an earlier run, or the base. */
  #head: string;
  #baseTree: string | undefined;

  private constructor({ mirror, branch, author, git }: RunRepositoryParts) {
    this.path = join(mirror.folder.path, 'work');
    this.gitDir = join(mirror.folder.path, 'git');
    this.base = mirror.commit;
    this.branch = branch;
    this.#author = author;
    this.#git = git;
    this.#head = mirror.commit;
  }

  /** @param saved a bundle with the work of an earlier run, which began from the same commit */
  static async create(parts: RunRepositoryParts, saved: Uint8Array | null): Promise<RunRepository> {
    const repository = new RunRepository(parts);
    await repository.#checkOut(parts.mirror);
    if (saved !== null) await repository.#restore(saved);
    return repository;
  }

  get head(): string {
    return this.#head;
  }

  async #checkOut({ path: mirror }: Mirror): Promise<void> {
    const doing = 'make the working folder';
    await mkdir(this.path);
    await this.#git.run(['init', '--quiet', '--bare', '--template=', `--initial-branch=${this.branch}`, this.gitDir], {
      doing,
    });
    await this.#seal();
    await mkdir(join(this.gitDir, 'objects', 'info'), { recursive: true });
    await writeFile(join(this.gitDir, 'objects', 'info', 'alternates'), `${join(mirror, 'objects')}\n`);
    // The branches of the server, under the names that a clone gives them.
    const refs = ['+refs/remotes/origin/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];
    const fetch = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', mirror, ...refs];
    await this.#git.run(fetch, { gitDir: this.gitDir, doing });
    // Also makes the branch.
    await this.#git.run(['reset', '--quiet', '--hard', this.base], this.#here(doing));
    await passOverLinks(this.#git, this.#here(doing));
    await cp(this.gitDir, join(this.path, '.git'), { recursive: true });
  }

  /** The agent finds the work as changes that are not committed yet. */
  async #restore(bundle: Uint8Array): Promise<void> {
    const file = join(this.gitDir, 'saved.bundle');
    await writeFile(file, bundle);
    const call = this.#here('restore the work of the last run');
    await this.#git.run(
      ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--', file, `+${WORK}:${WORK}`],
      call,
    );
    await rm(file);
    await this.#git.run(['read-tree', '-m', '-u', this.base, WORK], call);
    await passOverLinks(this.#git, call);
  }

  /** Commits on top of a commit that an earlier run has pushed, so that the next push needs no force. */
  async continueFrom(pushed: string): Promise<void> {
    const args = ['cat-file', '-e', `${pushed}^{commit}`];
    const found = await this.#git.ask(args, { gitDir: this.gitDir, doing: 'find the last commit of the job' });
    // On another machine it is there only if the push came to its end.
    if (found !== null) this.#head = pushed;
  }

  /** The id of all that is in the working folder now and not ignored. */
  async tree(): Promise<string> {
    const call = this.#here('read the working folder');
    await this.#seal();
    for (let failures = 0, rounds = 0; ; rounds += 1) {
      const { end } = await this.#git.end(['add', '--all', '--', '.'], call);
      const nested = nestedIn(end.lastOutput);
      if (nested.length > 0 && rounds < MOST_NESTED) {
        await this.#leaveOut(nested);
        continue;
      }
      if (end.outcome === 'exited') return (await this.#git.run(['write-tree'], call)).trim();
      failures += 1;
      // A program that works in the folder may have removed a file that git was about to read.
      if (failures === MOST_TRIES) throw this.#git.failure(call, end);
      await rm(join(this.gitDir, 'index.lock'), { force: true });
    }
  }

  async isBase(tree: string): Promise<boolean> {
    this.#baseTree ??= await this.#treeOf(this.base);
    return this.#baseTree === tree;
  }

  /** The tree as a bundle that needs nothing but the base. */
  async bundleOf(tree: string): Promise<Uint8Array> {
    const call = this.#here('save the work');
    const commit = await this.#commitOf(tree, this.base, 'Work in progress\n');
    await this.#git.run(['update-ref', WORK, commit], call);
    const file = join(this.gitDir, 'work.bundle');
    await this.#git.run(['bundle', 'create', '--quiet', file, WORK, `^${this.base}`], call);
    return await readFile(file);
  }

  /** The commit of the tree on the branch; the head as it was where nothing has changed. */
  async commit(tree: string, message: string): Promise<string> {
    const call = this.#here('commit the changes');
    if (tree !== (await this.#treeOf(this.#head))) this.#head = await this.#commitOf(tree, this.#head, message);
    await this.#git.run(['update-ref', `refs/heads/${this.branch}`, this.#head], call);
    return this.#head;
  }

  async countsTo(head: string): Promise<ChangeCounts> {
    const args = ['diff', '--numstat', '-z', '--no-renames', '--no-ext-diff', '--no-textconv', this.base, head];
    const lines = (await this.#git.run(args, this.#here('count the changes')))
      .split('\0')
      .filter((line) => line !== '');
    const sum = (at: number): number =>
      lines.reduce((total, line) => total + (Number.parseInt(line.split('\t')[at]!, 10) || 0), 0);
    return { files: lines.length, insertions: sum(0), deletions: sum(1) };
  }

  /** What `git apply` takes. Null: it is larger than allowed. */
  async patchTo(head: string, maxBytes: number): Promise<Buffer | null> {
    const file = join(this.gitDir, 'changes.patch');
    const args = ['diff', '--binary', '--full-index', '--no-renames', '--no-ext-diff', '--no-textconv'];
    await this.#git.run([...args, `--output=${file}`, this.base, head], this.#here('write the patch'));
    const { size } = await stat(file);
    return size > maxBytes ? null : await readFile(file);
  }

  /** The agent can reach this folder by a shell: what it has set there for our commands to run is gone. */
  async #seal(): Promise<void> {
    await writeFile(join(this.gitDir, 'config'), configOf(this.#author));
    await rm(join(this.gitDir, 'info', 'attributes'), { force: true });
  }

  async #leaveOut(nested: readonly string[]): Promise<void> {
    await mkdir(join(this.gitDir, 'info'), { recursive: true });
    await appendFile(join(this.gitDir, 'info', 'exclude'), nested.map(ignoreLine).join(''));
    const args = ['rm', '--cached', '--force', '--quiet', '--ignore-unmatch', '--', ...nested];
    await this.#git.run(args, this.#here('leave a repository out'));
  }

  async #treeOf(commit: string): Promise<string> {
    const args = ['rev-parse', '--verify', `${commit}^{tree}`];
    return (await this.#git.run(args, { gitDir: this.gitDir, doing: 'read a commit' })).trim();
  }

  async #commitOf(tree: string, parent: string, message: string): Promise<string> {
    const { name, email } = this.#author;
    const env = {
      ...{ GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email },
      ...{ GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email },
    };
    const call = { gitDir: this.gitDir, env, stdin: message, doing: 'commit the changes' };
    return (await this.#git.run(['commit-tree', tree, '-p', parent, '-F', '-'], call)).trim();
  }

  #here(doing: string): GitCall {
    return { gitDir: this.gitDir, workTree: this.path, doing };
  }
}

/** The author is for commits that the agent makes itself. */
function configOf({ name, email }: Author): string {
  const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
  const core = '[core]\n\trepositoryFormatVersion = 0\n\tbare = false\n';
  return `${core}[user]\n\tname = ${quoted(name)}\n\temail = ${quoted(email)}\n`;
}
