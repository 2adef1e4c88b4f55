import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { InvalidResult } from '../execute/outcome.ts';

const NAME = '$WAYBILL_RESULT_FILE';

/** To open a FIFO or a device must not wait, and a link may lead to a file that the program itself could not read. */
const HOW = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;

/** What a program has left as its result; null where it has left nothing. Never waits for another process. */
export async function readResultFile(path: string, maxBytes: number): Promise<string | null> {
  const file = await opened(path);
  if (file === null) return null;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new InvalidResult(`${NAME} is not a regular file`);
    if (stats.size > maxBytes) throw new InvalidResult(`${NAME} has ${stats.size} bytes, more than ${maxBytes}`);
    // Not to its end: a process that was not found may still write to it.
    const { bytesRead, buffer } = await file.read(Buffer.alloc(stats.size));
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function opened(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, HOW);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') throw new InvalidResult(`${NAME} is a symbolic link`);
    if (code === 'ENXIO') throw new InvalidResult(`${NAME} is not a regular file`);
    throw new InvalidResult(`${NAME} cannot be read: ${message}`);
  }
}
