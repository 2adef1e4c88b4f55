import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW, O_NOCTTY } = constants;

/** `code` of the error for what is no regular file, beside those of the system. */
export const NOT_REGULAR = 'EFTYPE';

/**
 * Opens a file to read that another program may have put there. To open a FIFO or a device must not wait, and a link may lead to a
 * file that the program itself could not read.
 */
export async function openRegular(path: string, { followsLinks = false } = {}): Promise<FileHandle> {
  const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW));
  const isRegular = await file.stat().then(
    (stats) => stats.isFile(),
    () => false,
  );
  if (isRegular) return file;
  await file.close();
  throw Object.assign(new Error(`${path} is not a regular file.`), { code: NOT_REGULAR });
}
