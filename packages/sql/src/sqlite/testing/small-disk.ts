import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tempFolder } from './temp-store.ts';

const BYTES = 16 * 1024 * 1024;

export interface SmallDisk {
  /** Where the database goes. */
  path: string;
  /** Another file takes all of the disk but this many bytes. */
  leave(bytes: number): void;
  /** The other file is removed. */
  makeRoom(): void;
}

/** A file system in memory that a test can fill. Throws where this user may not mount one. */
export function smallDisk(): SmallDisk {
  const folder = tempFolder();
  asRoot('mount', '-t', 'tmpfs', '-o', `size=${BYTES},mode=777`, 'tmpfs', folder);
  // Lazily, because a store that failed to close may still have the file open.
  onTestFinished(() => asRoot('umount', '--lazy', folder));
  const other = join(folder, 'other-file');
  return {
    path: join(folder, 'waybill.db'),
    leave(bytes) {
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(other, Buffer.alloc(bavail * bsize - bytes));
    },
    makeRoom: () => rmSync(other),
  };
}

function asRoot(program: string, ...args: string[]): void {
  const line = process.getuid?.() === 0 ? [program, ...args] : ['sudo', '-n', program, ...args];
  execFileSync(line[0]!, line.slice(1), { stdio: 'pipe' });
}

/** Why no disk can be mounted here; undefined where one can. With CI=true the test itself shall fail. */
export function whyNoSmallDisk(): string | undefined {
  if (process.env['CI'] === 'true') return undefined;
  try {
    asRoot('unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt');
    return undefined;
  } catch (error) {
    return `This user may not mount a file system: ${error}`;
  }
}
