import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobStore } from '../blobs/blob-store.ts';
import { folderBlobStore } from '../blobs/folder-blob-store.ts';
import { OffloadedStore } from '../blobs/offloaded-store.ts';
import type { StoreFactory } from './store/bench.ts';

/** So small that nearly every payload goes to the blob store. */
export const TINY_THRESHOLD = 16;

/** A folder of blobs that is gone after the test. */
export async function temporaryBlobs(): Promise<{ blobs: BlobStore; folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'waybill-blobs-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  // Nobody needs it after the test, and thousands of blobs take their time to reach the disk.
  return { blobs: folderBlobStore(folder, { durability: 'none' }), folder, remove };
}

/** The stores of another factory, with all but the smallest payloads in a folder. */
export const offloaded =
  (factory: StoreFactory): StoreFactory =>
  async () => {
    const [made, { blobs, remove }] = await Promise.all([factory(), temporaryBlobs()]);
    const store = new OffloadedStore(made.store, { store: blobs, threshold: TINY_THRESHOLD });
    const close = async () => {
      await made.close();
      await remove();
    };
    return { ...made, store, close };
  };
