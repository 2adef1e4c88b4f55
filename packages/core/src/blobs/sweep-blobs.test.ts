import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { memoryStore } from '../store/memory/memory-store.ts';
import { aJob, jobIdAt } from '../testing/factories.ts';
import { temporaryBlobs } from '../testing/offloaded.ts';
import { TEST_EPOCH, TestClock } from '../testing/test-clock.ts';
import { folderOf, ownerOf } from './reference.ts';
import { BlobSweep } from './sweep-blobs.ts';

const DAY_MS = 86_400_000;
const never = new AbortController().signal;

/** The clock is years ahead of the machine's, by which the folder goes: what was not told to be young is old. */
async function open() {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const { blobs, folder, remove } = await temporaryBlobs();
  onTestFinished(remove);
  const listed: number[] = [];
  const list: typeof blobs.list = async (prefix, page) => {
    const found = await blobs.list(prefix, page);
    listed.push(found.length);
    return found;
  };
  const young = clock.now() / 1_000;
  return {
    store,
    blobs,
    listed,
    sweep: new BlobSweep(store, { ...blobs, list }),
    put: async (id: string, name: string, { isYoung = false, tenant = '' } = {}) => {
      const key = `${folderOf({ tenant, id })}${name}`;
      await blobs.put(key, new Uint8Array(1));
      if (isYoung) await utimes(join(folder, key), young, young);
    },
    left: async () => {
      const found = await blobs.list('jobs/', { limit: 10_000 });
      return [...new Set(found.map(({ key }) => ownerOf(key)!.id))];
    },
  };
}

const idOf = (n: number): string => jobIdAt(TEST_EPOCH - 100 * DAY_MS + n, n);

test('goes through any number of blobs, page by page, and keeps those whose job is there', async () => {
  const { store, sweep, put, left, listed } = await open();
  const count = 700;
  for (let n = 0; n < count; n += 1) {
    await put(idOf(n), 'args-1');
    await put(idOf(n), 'result-1');
  }
  const living = [3, 249, 250, 251, 699].map(idOf);
  await store.insert(living.map((id) => ({ jobs: [aJob({ id })] })));
  expect(await sweep.round(DAY_MS, never)).toBe(count - living.length);
  expect(await left()).toEqual(living);
  expect(listed.length).toBeGreaterThan(2);
});

test('a folder whose newest blob is young is kept, also where that one stands on the next page', async () => {
  const { sweep, put, left } = await open();
  for (let n = 0; n < 499; n += 1) await put(idOf(n), 'args-1');
  await put(idOf(500), 'args-1');
  await put(idOf(500), 'result-1', { isYoung: true });
  await sweep.round(DAY_MS, never);
  expect(await left()).toEqual([idOf(500)]);
});

test('stops at young blobs and begins anew, so that an idle round is one request', async () => {
  const { sweep, put, left, listed } = await open();
  for (let n = 0; n < 600; n += 1) await put(idOf(n), 'args-1', { isYoung: true });
  for (let round = 0; round < 3; round += 1) expect(await sweep.round(DAY_MS, never)).toBe(0);
  expect(listed).toEqual([500, 500, 500]);
  expect(await left()).toHaveLength(600);
});

test('asks for the job in its own tenant, and leaves alone what is none of ours', async () => {
  const { store, blobs, sweep, put } = await open();
  const id = idOf(1);
  await store.insert([{ jobs: [aJob({ id, tenant: 'acme' })] }]);
  await put(id, 'args-1');
  await put(id, 'args-1', { tenant: 'acme' });
  await blobs.put('jobs/README', new Uint8Array(1));
  await blobs.put('other/args-1', new Uint8Array(1));
  expect(await sweep.round(DAY_MS, never)).toBe(1);
  const keys = (await blobs.list('jobs/', { limit: 10 })).map(({ key }) => key);
  expect(keys).toEqual([`${folderOf({ tenant: 'acme', id })}args-1`, 'jobs/README']);
  expect(await blobs.get('other/args-1')).not.toBeNull();
});

test('A1: a blob that cannot be removed is told of, and keeps no other', async () => {
  const { store, blobs, put, left } = await open();
  for (const n of [1, 2, 3]) await put(idOf(n), 'args-1');
  const deletePrefix: typeof blobs.deletePrefix = async (prefix) => {
    if (prefix.includes(idOf(2))) throw new Error('operation not permitted');
    await blobs.deletePrefix(prefix);
  };
  const sweep = new BlobSweep(store, { ...blobs, deletePrefix });
  await expect(sweep.round(DAY_MS, never)).rejects.toThrow('operation not permitted');
  expect(await left()).toEqual([idOf(2)]);
});
