import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { invalidField } from '../errors.ts';
import type { BlobInfo, BlobStore } from './blob-store.ts';

/** No dot in front: keeps `..` out, and our own files apart from blobs. */
const PART = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/;

/** Where blobs are written before they get their names. Not a possible key. */
const UNFINISHED = '.unfinished';

export interface FolderOptions {
  /** Whether a blob is on the disk before `put` answers, or whenever the system sees fit. @defaultValue 'full' */
  durability?: 'full' | 'none';
}

/** Keeps each blob as a file below a folder. A blob is there whole or not at all. */
export function folderBlobStore(folder: string, { durability = 'full' }: FolderOptions = {}): BlobStore {
  const isDurable = durability === 'full';
  return {
    put: async (key, data) => {
      const target = pathOf(folder, key);
      const unfinished = join(folder, UNFINISHED, randomUUID());
      await mkdir(dirname(unfinished), { recursive: true });
      const firstNew = await mkdir(dirname(target), { recursive: true });
      try {
        await (isDurable ? writeDurably(unfinished, data) : writeFile(unfinished, data));
        await rename(unfinished, target);
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
      if (isDurable) await syncFolders(dirname(target), firstNew === undefined ? dirname(target) : dirname(firstNew));
    },

    get: async (key) => {
      const data = await orIfMissing(readFile(pathOf(folder, key)), null);
      return data && new Uint8Array(data);
    },

    deletePrefix: async (prefix) => {
      const [parents, start] = splitPrefix(prefix);
      const parent = join(folder, ...parents);
      if (start === '') return rm(parent, { recursive: true, force: true });
      const names = await namesIn(parent);
      const doomed = names.filter((name) => name.startsWith(start));
      await Promise.all(doomed.map((name) => rm(join(parent, name), { recursive: true, force: true })));
    },

    list: async (prefix, { after = '', limit }) => {
      const [parents] = splitPrefix(prefix);
      const found: BlobInfo[] = [];
      for await (const key of keysIn(folder, parents.map((parent) => `${parent}/`).join(''), after)) {
        if (found.length === limit) break;
        if (!key.startsWith(prefix)) continue;
        const putAt = await changedAt(join(folder, key));
        if (putAt !== null) found.push({ key, putAt });
      }
      return found;
    },

    close: async () => {},
  };
}

function pathOf(folder: string, key: string): string {
  const parts = key.split('/');
  if (parts.every((part) => PART.test(part))) return join(folder, ...parts);
  throw invalidField('key', "must be names of letters, digits, '.', '_' and '-', joined by slashes.", { key });
}

/** The folders that the prefix names in full, and how the name below them begins. */
function splitPrefix(prefix: string): [parents: string[], start: string] {
  const parts = prefix.split('/');
  const start = parts.pop()!;
  // An empty prefix would mean everything; nobody means that.
  const isWhole = parts.length + start.length > 0 && parts.every((part) => PART.test(part));
  if (isWhole && (start === '' || PART.test(start))) return [parts, start];
  throw invalidField('prefix', 'must be the beginning of a key.', { prefix });
}

/** In the order of the keys, which have a slash where a folder ends. Passes by what cannot come after `after`. */
async function* keysIn(folder: string, above: string, after: string): AsyncGenerator<string> {
  const entries = (await entriesIn(join(folder, above))).filter(({ name }) => PART.test(name));
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  for (const name of names) {
    const key = above + name;
    if (!name.endsWith('/')) {
      if (key > after) yield key;
    } else if (key > after || after.startsWith(key)) yield* keysIn(folder, key, after);
  }
}

const entriesIn = (folder: string): Promise<Dirent[]> => orIfMissing(readdir(folder, { withFileTypes: true }), []);

/** Null when it was removed meanwhile. */
const changedAt = (path: string): Promise<number | null> =>
  orIfMissing(
    stat(path).then(({ mtimeMs }) => mtimeMs),
    null,
  );

const namesIn = (folder: string): Promise<string[]> => orIfMissing(readdir(folder), []);

async function orIfMissing<T>(asked: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (isMissing(error)) return otherwise;
    throw error;
  }
}

/** A folder in place of the blob, or a blob in place of a folder, is no such blob either. */
const isMissing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

async function writeDurably(path: string, data: Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(data);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A new name is durable only when the folder that holds it is; so are new folders, up to one that was there. */
async function syncFolders(deepest: string, last: string): Promise<void> {
  for (let path = deepest; ; path = dirname(path)) {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (path === last || path === dirname(path)) return;
  }
}
