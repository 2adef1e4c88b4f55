import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { openRegular } from '@waybill/worker/contained';

const NAME = /^\.env(\.[\w.-]+)?$/;
const MOST_FILES = 20;
const MOST_BYTES = 64 * 1_024;

/** What the `.env` files of a folder set. An agent that works there may read and print them. */
export async function envFilesIn(folder: string): Promise<Record<string, string | undefined>[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => NAME.test(name)).slice(0, MOST_FILES);
  return Promise.all(files.map(async (name) => parseEnv(await beginningOf(join(folder, name)))));
}

/** Empty where it cannot be read: then the agent, which has the same user, cannot read it either. A link it can follow too. */
async function beginningOf(path: string): Promise<string> {
  const file = await openRegular(path, { followsLinks: true }).catch(() => null);
  try {
    const { buffer, bytesRead } = (await file?.read(Buffer.alloc(MOST_BYTES), 0, MOST_BYTES, 0)) ?? {};
    return buffer?.toString('utf8', 0, bytesRead) ?? '';
  } catch {
    return '';
  } finally {
    await file?.close();
  }
}
