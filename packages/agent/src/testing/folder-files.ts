import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RunFiles } from '../run-files.ts';

/** Files of a job in a folder. A file is written whole or not at all. */
export function folderFiles(folder: string): RunFiles {
  return {
    put: async (name, data) => {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(`${path}.new`, data);
      await rename(`${path}.new`, path);
    },
    get: async (name) => {
      try {
        return await readFile(join(folder, name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },
  };
}
