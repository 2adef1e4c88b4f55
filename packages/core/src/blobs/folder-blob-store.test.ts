import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderBlobStore } from './folder-blob-store.ts';

async function freshStore() {
  const root = await mkdtemp(join(tmpdir(), 'waybill-blobs-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const folder = join(root, 'blobs');
  return { root, folder, blobs: folderBlobStore(folder) };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('folderBlobStore', () => {
  it('gives back what was put, byte for byte', async () => {
    const { blobs } = await freshStore();
    const data = Uint8Array.from({ length: 100_000 }, (_, i) => i % 256);
    await blobs.put('jobs/1/args', data);
    expect(await blobs.get('jobs/1/args')).toEqual(data);
    await blobs.put('jobs/1/empty', new Uint8Array());
    expect(await blobs.get('jobs/1/empty')).toEqual(new Uint8Array());
  });

  it('answers null for what is not there', async () => {
    const { blobs } = await freshStore();
    expect(await blobs.get('jobs/1/args')).toBeNull();
    await blobs.put('jobs/1/args', bytes('a'));
    expect(await blobs.get('jobs/1/result')).toBeNull();
    expect(await blobs.get('jobs/1')).toBeNull();
    expect(await blobs.get('jobs/1/args/deeper')).toBeNull();
  });

  it('puts over what was there', async () => {
    const { blobs } = await freshStore();
    await blobs.put('a', bytes('a long first text'));
    await blobs.put('a', bytes('second'));
    expect(await blobs.get('a')).toEqual(bytes('second'));
  });

  it('concurrent puts of one key leave one of them, whole, and no unfinished file', async () => {
    const { folder, blobs } = await freshStore();
    const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000));
    await Promise.all(texts.map((text) => blobs.put('jobs/1/args', bytes(text))));
    expect(texts).toContain(new TextDecoder().decode((await blobs.get('jobs/1/args'))!));
    expect(await readdir(join(folder, '.unfinished'))).toEqual([]);
  });

  it('a put that fails leaves no unfinished file', async () => {
    const { folder, blobs } = await freshStore();
    await blobs.put('a/b', bytes('1'));
    await expect(blobs.put('a', bytes('2'))).rejects.toThrow();
    expect(await readdir(join(folder, '.unfinished'))).toEqual([]);
    expect(await blobs.get('a/b')).toEqual(bytes('1'));
  });

  it('deletes every blob whose key starts with the prefix and no other, and again without complaint', async () => {
    const { blobs } = await freshStore();
    const keys = ['jobs/1/args', 'jobs/1/result', 'jobs/12/args', 'jobs/2/args', 'other'];
    const left = async () => {
      const found = await Promise.all(keys.map((key) => blobs.get(key)));
      return keys.filter((_, index) => found[index] !== null);
    };
    for (const key of keys) await blobs.put(key, bytes(key));
    await blobs.deletePrefix('jobs/1/r');
    expect(await left()).toEqual(['jobs/1/args', 'jobs/12/args', 'jobs/2/args', 'other']);
    await blobs.deletePrefix('jobs/1/');
    expect(await left()).toEqual(['jobs/12/args', 'jobs/2/args', 'other']);
    await blobs.deletePrefix('jobs/1');
    expect(await left()).toEqual(['jobs/2/args', 'other']);
    await blobs.deletePrefix('jobs/1');
    await blobs.deletePrefix('never/was/');
    await blobs.deletePrefix('o');
    expect(await left()).toEqual(['jobs/2/args']);
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
