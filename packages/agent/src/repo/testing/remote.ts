import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect } from 'vitest';

const isMissing = spawnSync('git', ['--version']).status !== 0;
if (isMissing && process.env['CI'] === 'true') throw new Error('CI must have git.');

/** Why tests with repositories cannot run here; undefined where they can. */
export const lack = isMissing ? 'needs git' : undefined;

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'waybill-repo-'));
  cleanups.push(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  return path;
}

const ENV = {
  ...{ PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
  ...{ GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@test.invalid', GIT_COMMITTER_NAME: 'A' },
  GIT_COMMITTER_EMAIL: 'a@test.invalid',
};

/** What git prints, without the last line break. */
export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, env: ENV, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trimEnd();

/** A repository that others clone: bare, as on a server, with a folder to commit from. */
export class Remote {
  readonly path = join(folder(), 'app.git');
  readonly #work = folder();

  constructor(files: Readonly<Record<string, string>> = { 'README.md': 'one\n' }) {
    git(this.#work, 'init', '--quiet', '-b', 'main');
    git(this.#work, 'init', '--quiet', '--bare', '-b', 'main', this.path);
    this.commit(files);
  }

  /** Writes the files, and answers the commit that has them. */
  commit(files: Readonly<Record<string, string>>, branch = 'main'): string {
    git(this.#work, 'checkout', '--quiet', '-B', branch);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.#work, name)), { recursive: true });
      writeFileSync(join(this.#work, name), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
    }
    git(this.#work, 'add', '--all');
    git(this.#work, 'commit', '--quiet', '--message', 'change');
    git(this.#work, 'push', '--quiet', '--force', this.path, branch);
    return git(this.#work, 'rev-parse', 'HEAD');
  }

  /** Adds a submodule, whose commit is one of this repository. */
  link(name: string): void {
    git(this.#work, 'update-index', '--add', '--cacheinfo', `160000,${git(this.#work, 'rev-parse', 'HEAD')},${name}`);
    git(this.#work, 'commit', '--quiet', '--message', 'link');
    git(this.#work, 'push', '--quiet', this.path, 'main');
  }

  tag(name: string): void {
    git(this.path, 'tag', name, 'main');
  }

  show(what: string): string {
    return git(this.path, 'show', what);
  }

  /** Names of its branches. */
  get branches(): string[] {
    return git(this.path, 'for-each-ref', '--format=%(refname:short)', 'refs/heads').split('\n');
  }
}

/** Fails where a promise does not reject, and answers what it rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<Error & { code?: string; retryable?: boolean }> {
  const settled = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  expect(settled).toHaveProperty('error');
  return (settled as { error: Error }).error;
}
