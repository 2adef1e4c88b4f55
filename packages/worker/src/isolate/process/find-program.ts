import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** Where a process without PATH is searched for, as execvp does. */
const DEFAULT_PATH = '/bin:/usr/bin';

/** Found, or why not. */
export type FoundProgram = { file: string; problem?: never } | { file?: never; problem: string };

/**
 * The file that a command names, as execvp would find it. We look before we start anything, because a wrapper such as
 * nice answers a missing program with exit code 127, which a program may also answer by itself.
 */
export function findProgram(name: string, searchPath: string | undefined, cwd: string): FoundProgram {
  const byPath = name.includes('/');
  const folders = byPath ? [''] : (searchPath ?? DEFAULT_PATH).split(':');
  let notExecutable: string | undefined;
  for (const folder of folders) {
    const file = path.resolve(cwd, folder, name);
    const found = lookAt(file);
    if (found === 'executable') return { file };
    if (found === 'not executable') notExecutable ??= file;
  }
  if (notExecutable) return { problem: `The program '${notExecutable}' is not an executable file.` };
  if (byPath) return { problem: `The program '${name}' does not exist.` };
  return { problem: `The program '${name}' is in no folder of PATH '${folders.join(':')}'.` };
}

/** Why a process cannot start in a folder; null when it can. */
export function problemOfFolder(folder: string): string | null {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (!stats) return `The working folder '${folder}' does not exist.`;
  return stats.isDirectory() ? null : `The working folder '${folder}' is not a folder.`;
}

function lookAt(file: string): 'executable' | 'not executable' | 'missing' {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats) return 'missing';
    accessSync(file, constants.X_OK);
    return stats.isFile() ? 'executable' : 'not executable';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'not executable' : 'missing';
  }
}
