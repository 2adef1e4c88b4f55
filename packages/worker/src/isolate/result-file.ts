import type { FileHandle } from 'node:fs/promises';
import { InvalidResult } from '../execute/outcome.ts';
import { NOT_REGULAR, openRegular } from './open-regular.ts';

const NAME = '$WAYBILL_RESULT_FILE';

/** What a program has left as its result; null where it has left nothing or an empty file. Never waits for another process. */
export async function readResultFile(path: string, maxBytes: number): Promise<string | null> {
  const file = await opened(path);
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    if (size > maxBytes) throw new InvalidResult(`${NAME} has ${size} bytes, more than ${maxBytes}`);
    // Not to its end: a process that was not found may still write to it.
    const { bytesRead, buffer } = await file.read(Buffer.alloc(size));
    return bytesRead === 0 ? null : buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function opened(path: string): Promise<FileHandle | null> {
  try {
    return await openRegular(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') throw new InvalidResult(`${NAME} is a symbolic link`);
    if (code === 'ENXIO' || code === NOT_REGULAR) throw new InvalidResult(`${NAME} is not a regular file`);
    throw new InvalidResult(`${NAME} cannot be read: ${message}`);
  }
}
