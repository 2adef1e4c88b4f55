import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Redactor } from '../security/redactor.ts';
import { Git } from './git.ts';
import { gitEnvironment } from './git-environment.ts';
import { type RepoAddress, repoAddress } from './repo-address.ts';
import { RepoCache } from './repo-cache.ts';
import { folder, lack, Remote, rejection } from './testing/remote.ts';

const { signal } = new AbortController();

function cacheOf(remote: string, base: string): RepoCache {
  const env = gitEnvironment(process.env);
  const git = new Git({ env, signal, redactor: new Redactor({}) });
  return new RepoCache({ base, address: repoAddress(remote, '/') as RepoAddress, server: env, git, signal });
}

/** The folder of the only repository of a cache. */
const only = (base: string): string => join(base, readdirSync(base)[0]!);
const copies = (base: string): string[] => readdirSync(only(base)).filter((name) => name.startsWith('copy-'));

describe.skipIf(lack)(`a copy of a repository${lack ? ` (${lack})` : ''}`, () => {
  test('a run begins from the default branch, a branch, a tag or a commit, as they are on the server now', async () => {
    const remote = new Remote();
    const base = folder();
    const cache = cacheOf(remote.path, base);
    const first = (await cache.prepare(undefined, undefined)).commit;
    remote.tag('v1');
    const side = remote.commit({ 'side.txt': 'x' }, 'side');
    const newer = remote.commit({ 'README.md': 'two\n' });
    expect((await cache.prepare(undefined, undefined)).commit).toBe(newer);
    expect((await cache.prepare('main', undefined)).commit).toBe(newer);
    expect((await cache.prepare('side', undefined)).commit).toBe(side);
    expect((await cache.prepare('v1', undefined)).commit).toBe(first);
    expect((await cache.prepare(first.slice(0, 10), undefined)).commit).toBe(first);
    expect((await cache.prepare('main', first)).commit).toBe(first);
    expect(copies(base)).toHaveLength(1);
  });

  test('a name that the repository does not have is told, and is final', async () => {
    const remote = new Remote();
    const error = await rejection(cacheOf(remote.path, folder()).prepare('nowhere', undefined));
    expect(error).toMatchObject({ code: 'repo_failed', retryable: false });
    expect(error.message).toContain("has no branch, tag or commit 'nowhere'");
  });

  test('a repository that is not there is told', async () => {
    const error = await rejection(cacheOf(join(folder(), 'none.git'), folder()).prepare(undefined, undefined));
    expect(error).toMatchObject({ code: 'repo_failed', retryable: false });
    expect(error.message).toContain('none.git');
  });

  test('a broken copy is made anew, and goes once no run reads from it', async () => {
    const remote = new Remote();
    const base = folder();
    const cache = cacheOf(remote.path, base);
    const first = await cache.prepare(undefined, undefined);
    rmSync(join(first.path, 'objects'), { recursive: true });
    const second = await cache.prepare(undefined, undefined);
    expect(second.path).not.toBe(first.path);
    writeFileSync(join(second.path, 'config'), '[broken');
    const third = await cache.prepare(undefined, undefined);
    expect(third.commit).toBe(first.commit);
    expect(copies(base)).toHaveLength(3);
    for (const { folder: run } of [first, second, third]) await run.remove();
    await cache.prepare(undefined, undefined);
    expect(copies(base)).toHaveLength(1);
  });

  test('a copy whose server is gone is kept', async () => {
    const remote = new Remote();
    const base = folder();
    const cache = cacheOf(remote.path, base);
    const { path } = await cache.prepare(undefined, undefined);
    rmSync(remote.path, { recursive: true });
    expect(await rejection(cache.prepare(undefined, undefined))).toMatchObject({ code: 'repo_failed' });
    expect(existsSync(path)).toBe(true);
    expect(copies(base)).toHaveLength(1);
  });

  test('what a killed git process has left does not stop the next run', async () => {
    const remote = new Remote();
    const base = folder();
    const cache = cacheOf(remote.path, base);
    const { path } = await cache.prepare(undefined, undefined);
    remote.commit({ 'README.md': 'two\n' });
    for (const name of ['packed-refs.lock', 'config.lock', 'refs/remotes/origin/main.lock'])
      writeFileSync(join(path, name), '');
    const next = await cache.prepare(undefined, undefined);
    expect(next.path).toBe(path);
  });

  test('the folder of a dead run is removed by the next one, and that of a living run is not', async () => {
    const remote = new Remote();
    const base = folder();
    const cache = cacheOf(remote.path, base);
    const living = await cache.prepare(undefined, undefined);
    // Of a process that cannot be there, because Linux and macOS number them lower.
    const dead = living.folder.path.replace(`-${process.pid}-`, '-99999999-');
    writeFileSync(dead, '');
    const [fresh, old] = ['fresh', 'old'].map((name) => join(dirname(dead), `waybill-run-otherhost-7-${name}`));
    for (const path of [fresh!, old!]) mkdirSync(path);
    utimesSync(old!, 0, 0);
    await cache.prepare(undefined, undefined);
    expect([dead, old!, fresh!].map((path) => existsSync(path))).toEqual([false, false, true]);
    expect(existsSync(living.folder.path)).toBe(true);
  });
});
