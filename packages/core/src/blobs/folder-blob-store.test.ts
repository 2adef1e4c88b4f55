import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryBlobs } from '../testing/offloaded.ts';
import { testBlobStore } from '../testing/test-blob-store.ts';
import { folderBlobStore } from './folder-blob-store.ts';

async function freshStore() {
  const root = await mkdtemp(join(tmpdir(), 'waybill-blobs-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, 'blobs');
  return { root, folder, blobs: folderBlobStore(folder) };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

testBlobStore('a folder', async () => {
  const { folder, remove } = await temporaryBlobs();
  return { blobs: folderBlobStore(folder), close: remove };
});
testBlobStore('a folder that leaves the disk to the system', async () => {
  const { blobs, remove } = await temporaryBlobs();
  return { blobs, close: remove };
});

describe('folderBlobStore', () => {
  it('concurrent puts of one key leave no unfinished file', async () => {
    const { folder, blobs } = await freshStore();
    await Promise.all(Array.from({ length: 20 }, (_, i) => blobs.put('jobs/1/args', bytes(String(i)))));
    expect(await readdir(join(folder, '.unfinished'))).toEqual([]);
  });

  it('a put that fails leaves no unfinished file', async () => {
    const { folder, blobs } = await freshStore();
    await blobs.put('a/b', bytes('1'));
    await expect(blobs.put('a', bytes('2'))).rejects.toThrow();
    expect(await readdir(join(folder, '.unfinished'))).toEqual([]);
    expect(await blobs.get('a/b')).toEqual(bytes('1'));
  });

  it.each(['', '/', '..', '../x', 'a/../b', '/etc/passwd', 'a//b', 'a/', '.hidden', 'a\\b', 'a\0b', 'a b', 'ä'])(
    'refuses the key %j and touches nothing outside its folder',
    async (key) => {
      const { root, blobs } = await freshStore();
      await writeFile(join(root, 'x'), 'outside');
      await expect(blobs.put(key, bytes('1'))).rejects.toMatchObject({ code: 'invalid_request' });
      await expect(blobs.get(key)).rejects.toMatchObject({ code: 'invalid_request' });
      expect(await readdir(root)).not.toContain('b');
    },
  );

  it.each(['', '/', '..', '../', '../x', 'a/../', '.', './', '.unfinished', '/jobs'])(
    'refuses the prefix %j and deletes nothing',
    async (prefix) => {
      const { root, blobs } = await freshStore();
      await writeFile(join(root, 'x'), 'outside');
      await blobs.put('jobs/1/args', bytes('1'));
      await expect(blobs.deletePrefix(prefix)).rejects.toMatchObject({ code: 'invalid_request' });
      expect(await blobs.get('jobs/1/args')).toEqual(bytes('1'));
      expect(await readdir(root)).toContain('x');
    },
  );
});
