import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OutboxFiles } from './outbox-files.ts';
import { hold, isHeld, lockOf } from './outbox-lock.ts';
import { nameOf, type Owner } from './outbox-owner.ts';

const OTHER: Owner = { host: 'aaaaaaaaaaaa', pid: 1, start: 'bbbbbbbbbbbb', nonce: 'cccccccccccc' };
const NAME = nameOf(OTHER);

/** Its path is longer than the address of a socket can be. */
async function folderOf(): Promise<string> {
  const base = await mkdtemp(path.join(tmpdir(), 'waybill-outbox-'));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const folder = path.join(base, 'long'.repeat(40));
  await mkdir(folder);
  return folder;
}

/** What the owner in another container has left, and its last sign of life was long ago. */
async function silentFile(folder: string): Promise<string> {
  const name = `~job-1~1~dddddddddddd.${NAME}.wal`;
  for (const file of [name, `${NAME}.alive`]) await writeFile(path.join(folder, file), '');
  await utimes(path.join(folder, `${NAME}.alive`), new Date(0), new Date(0));
  return name;
}

describe.skipIf(!existsSync('/proc/self/ns/pid'))('the socket of an owner', () => {
  // fault: a container is paused for longer than an owner may be silent
  it('keeps the files of an owner that listens, however long it is silent', async () => {
    const folder = await folderOf();
    const name = await silentFile(folder);
    const files = new OutboxFiles(folder);
    expect(await files.orphans()).toEqual([name]);
    // A thread listens once per folder, and this one has done so for itself.
    const other = await folderOf();
    await silentFile(other);
    await hold(other, NAME);
    expect(await new OutboxFiles(other).orphans()).toEqual([]);
    await rm(path.join(other, name));
    await new OutboxFiles(other).orphans();
    expect(await readdir(other)).toContain(lockOf(NAME));
  });

  // fault: the owner is killed, and has said right before that it lives
  it('gives them away as soon as the owner is dead, and is removed once it is silent', async () => {
    const folder = await folderOf();
    const name = await silentFile(folder);
    const script = `require('net').createServer().listen(${JSON.stringify(lockOf(NAME))}, () => console.log('listens'))`;
    const child = spawn(process.execPath, ['-e', script], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    expect(await isHeld(folder, NAME)).toBe(true);
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    await utimes(path.join(folder, `${NAME}.alive`), new Date(), new Date());
    expect(await isHeld(folder, NAME)).toBe(false);
    expect(await new OutboxFiles(folder).orphans()).toEqual([name]);
    await silentFile(folder);
    await rm(path.join(folder, name));
    await new OutboxFiles(folder).orphans();
    expect((await readdir(folder)).filter((file) => file.startsWith(NAME))).toEqual([]);
  });

  it('says nothing where there is none', async () => {
    expect(await isHeld(await folderOf(), NAME)).toBeUndefined();
  });
});
