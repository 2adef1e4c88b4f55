import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rename, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker as Thread } from 'node:worker_threads';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { OutboxFiles } from './outbox-files.ts';
import { nameOf, type Owner, SELF, startOf } from './outbox-owner.ts';

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-outbox-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe('the files of an outbox', () => {
  const key = { tenant: '../~a/..', id: '0197b3c0-0000-7000-8000-000000000001', run: 1, leaseToken: '1.x' };

  const NONCE = '000000000000';
  const ELSEWHERE: Owner = { host: 'aaaaaaaaaaaa', pid: 7, start: undefined, nonce: NONCE };

  /** The last sign of life of an owner was long ago. */
  async function silence(folder: string, owner: Owner): Promise<void> {
    const at = path.join(folder, `${nameOf(owner)}.alive`);
    await writeFile(at, '');
    await utimes(at, new Date(0), new Date(0));
  }

  /** A file as another process would have it. */
  async function foreign(folder: string, owner: Partial<Owner>): Promise<string> {
    const files = new OutboxFiles(folder);
    const at = await files.newPath(key);
    await writeFile(at, 'x');
    const name = path.basename(at).replace(nameOf(SELF), nameOf({ ...SELF, ...owner }));
    await rename(at, path.join(folder, name));
    files.release(at);
    return name;
  }

  it('stay in the folder whatever the tenant is called', async () => {
    const folder = await folderOf();
    const files = new OutboxFiles(folder);
    const short = await files.newPath(key);
    const long = await files.newPath({ ...key, tenant: 'ä'.repeat(255) });
    for (const at of [short, long]) {
      expect(path.dirname(at)).toBe(folder);
      expect(path.basename(at).length).toBeLessThan(250);
      files.release(at);
    }
  });

  it('of a process whose id this one has now, as in a container, are orphans', async () => {
    const folder = await folderOf();
    const start = SELF.start && '000000000000';
    const names = [await foreign(folder, { start, nonce: NONCE })];
    // As earlier versions named them.
    if (start) names.push(await foreign(folder, { start: undefined, nonce: NONCE }));
    expect(await new OutboxFiles(folder).orphans()).toEqual(names.sort());
  });

  it('trap: of a live process are not orphans, however long it was suspended and whatever the clock shows', async () => {
    const folder = await folderOf();
    const owner: Owner = { ...SELF, pid: process.ppid, start: startOf(process.ppid) ?? undefined, nonce: NONCE };
    const name = await foreign(folder, owner);
    await silence(folder, owner);
    expect(await new OutboxFiles(folder).orphans()).toEqual([]);
    const dead = { ...owner, pid: 2 ** 22 + 1 };
    await rename(path.join(folder, name), path.join(folder, name.replace(nameOf(owner), nameOf(dead))));
    expect(await new OutboxFiles(folder).orphans()).toHaveLength(1);
  });

  it('trap: of a second thread, or of a second copy of this module, in this process are not orphans', async () => {
    const folder = await folderOf();
    const owner = { ...SELF, nonce: NONCE };
    await foreign(folder, owner);
    await silence(folder, owner);
    expect(await new OutboxFiles(folder).orphans()).toEqual([]);
  });

  it.skipIf(SELF.start === undefined)('of a thread are orphans as soon as it has ended', async () => {
    const folder = await folderOf();
    const thread = new Thread(
      `const { parentPort } = require('node:worker_threads');
       parentPort.postMessage(require('node:fs').readlinkSync('/proc/thread-self'));
       parentPort.once('message', () => parentPort.close());`,
      { eval: true },
    );
    const [link] = (await once(thread, 'message')) as [string];
    const pid = Number(path.basename(link));
    expect(pid).not.toBe(process.pid);
    const name = await foreign(folder, { pid, start: startOf(pid)!, nonce: NONCE });
    expect(await new OutboxFiles(folder).orphans()).toEqual([]);
    const ended = once(thread, 'exit');
    thread.postMessage('end');
    await ended;
    expect(await new OutboxFiles(folder).orphans()).toEqual([name]);
  });

  it('of another host are orphans when that has been silent for long', async () => {
    const folder = await folderOf();
    const name = await foreign(folder, ELSEWHERE);
    await writeFile(path.join(folder, `${nameOf(ELSEWHERE)}.alive`), '');
    expect(await new OutboxFiles(folder).orphans()).toEqual([]);
    await silence(folder, ELSEWHERE);
    expect(await new OutboxFiles(folder).orphans()).toEqual([name]);
  });

  // fault: the clocks of two hosts differ by more than a minute
  it('trap: the silence of another host is measured by the clock of the file system', async () => {
    const folder = await folderOf();
    await foreign(folder, ELSEWHERE);
    await writeFile(path.join(folder, `${nameOf(ELSEWHERE)}.alive`), '');
    const real = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now: real + 61_000 });
    onTestFinished(() => void vi.useRealTimers());
    const files = new OutboxFiles(folder);
    expect(await files.orphans()).toEqual([]);
    await files.touchAlive();
    expect((await stat(path.join(folder, `${nameOf(SELF)}.alive`))).mtimeMs).toBeLessThan(real + 30_000);
  });

  it('are taken by one of those who try', async () => {
    const folder = await folderOf();
    const name = await foreign(folder, ELSEWHERE);
    const [first, second] = [new OutboxFiles(folder), new OutboxFiles(folder)];
    const taken = await Promise.all([first.take(name), second.take(name)]);
    expect(taken.filter((at) => at !== undefined)).toHaveLength(1);
  });

  it('that were lost are kept for a week, and 64 MB of them', async () => {
    const folder = await folderOf();
    const lost = path.join(folder, 'lost');
    await mkdir(lost);
    const now = Date.now();
    const put = async (name: string, bytes: number, ageMs: number) => {
      const at = path.join(lost, name);
      await writeFile(at, '');
      await truncate(at, bytes);
      await utimes(at, new Date(now - ageMs), new Date(now - ageMs));
      return stat(at);
    };
    await put('old', 10, 8 * 86_400_000);
    await put('large', 60 * 1_024 * 1_024, 5_000);
    await put('larger', 60 * 1_024 * 1_024, 10_000);
    await put('new', 10, 1_000);
    await new OutboxFiles(folder).pruneLost();
    expect((await readdir(lost)).sort()).toEqual(['large', 'new']);
  });

  it('trap: the one that was lost last is kept, however large it is and whenever it was written', async () => {
    const folder = await folderOf();
    const files = new OutboxFiles(folder);
    const lose = async (run: number): Promise<string> => {
      const at = await files.newPath({ ...key, run });
      await writeFile(at, '');
      await truncate(at, 65 * 1_024 * 1_024);
      await utimes(at, new Date(0), new Date(0));
      return path.basename(await files.moveToLost(at));
    };
    const first = await lose(1);
    await files.pruneLost();
    expect(await readdir(path.join(folder, 'lost'))).toEqual([first]);
    await utimes(path.join(folder, 'lost', first), new Date(), new Date(Date.now() - 1_000));
    const second = await lose(2);
    expect(await readdir(path.join(folder, 'lost'))).toEqual([second]);
  });
});
