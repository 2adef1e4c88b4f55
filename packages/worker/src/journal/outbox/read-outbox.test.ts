import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Batch } from '../delivery.ts';
import { OutboxFiles } from './outbox-files.ts';
import { SELF } from './outbox-owner.ts';
import { readOutbox } from './read-outbox.ts';
import { WalFile } from './wal-file.ts';

const batch = (first: number, count: number, at: number, critical: number[] = []): Batch => ({
  entries: Array.from({ length: count }, (_, index) => ({ sequence: first + index, at, type: 'step', data: 'x' })),
  critical,
});

async function outbox() {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-outbox-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const files = new OutboxFiles(folder);
  const written = async (id: string, ...batches: Batch[]) => {
    const key = { tenant: 'acme', id, run: 2, leaseToken: `secret-token-of-${id}` };
    const at = await files.newPath(key);
    const wal = await WalFile.create(at, { version: 1, ...key });
    for (const one of batches) await wal.append(one);
    return { at, wal };
  };
  /** All that is in the folder, with the times of the files. */
  const everything = async () => {
    const names = (await readdir(folder, { recursive: true })).sort();
    return Promise.all(
      names.map(async (name) => {
        const facts = await stat(path.join(folder, name));
        return [name, facts.mtimeMs, facts.isFile() ? (await readFile(path.join(folder, name))).toString('hex') : ''];
      }),
    );
  };
  return { folder, files, written, everything };
}

const DEAD = (at: string) => at.replace(/\.[0-9a-f-]+\.wal$/, `.${SELF.host}-999999999-000000000000.wal`);

it('tells what waits for each run, and changes nothing', async () => {
  const { folder, files, written, everything } = await outbox();
  const { wal } = await written('open', batch(1, 2, 50, [1]), batch(3, 3, 70));
  await wal.next();
  await wal.ack(batch(1, 2, 50, [1]));
  const left = await written('left', batch(1, 4, 90, [2, 3]));
  await left.wal.close();
  await rename(left.at, DEAD(left.at));
  // A crash in the midst of a record.
  await writeFile(DEAD(left.at), Buffer.concat([await readFile(DEAD(left.at)), Buffer.from('torn')]));
  const lost = await written('lost', batch(1, 1, 20));
  await lost.wal.close();
  await files.moveToLost(lost.at);
  await writeFile(path.join(folder, `broken.${SELF.host}-999999999-000000000000.wal`), 'no header');
  const before = await everything();
  const contents = await readOutbox(folder);
  expect(contents.files.map(({ jobId, tenant, run }) => [jobId, tenant, run])).toEqual([
    ['left', 'acme', 2],
    ['open', 'acme', 2],
    ['lost', 'acme', 2],
  ]);
  const facts = Object.fromEntries(contents.files.map((one) => [one.jobId, one]));
  expect(facts['open']).toMatchObject({ state: 'open', entries: 3, critical: 0, oldestAt: 70, newestAt: 70 });
  expect(facts['left']).toMatchObject({ state: 'left', entries: 4, critical: 2, oldestAt: 90, tornBytes: 4 });
  expect(facts['lost']).toMatchObject({ state: 'lost', entries: 1, name: expect.stringMatching(/^lost\//) });
  expect(contents.unreadable).toEqual([
    { name: expect.stringMatching(/^broken/), reason: 'it is no file of an outbox' },
  ]);
  expect(JSON.stringify(contents)).not.toContain('secret-token');
  expect(await everything()).toEqual(before);
  await wal.close();
});

it('a file whose batches are all acknowledged has nothing that waits', async () => {
  const { folder, written } = await outbox();
  const one = batch(1, 2, 50);
  const { wal } = await written('done', one);
  await wal.next();
  await wal.ack(one);
  expect((await readOutbox(folder)).files).toMatchObject([{ entries: 0, bytes: 0, oldestAt: null, newestAt: null }]);
  await wal.close();
});

it('rejects where there is no such folder', async () => {
  await expect(readOutbox('/nowhere/outbox')).rejects.toMatchObject({ code: 'ENOENT' });
});
