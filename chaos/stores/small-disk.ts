import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Guard } from '../run/guard.ts';

const MIB = 1024 * 1024;
/** What is written at a time, so that nothing else waits for long. */
const SLICE = 4 * MIB;

/** A file system in memory that can be filled. */
export class SmallDisk {
  readonly folder: string;
  readonly #other: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.#other = path.join(folder, 'other-file');
  }

  /** Answers why there is none where this user may not mount one. */
  static mount(folder: string, mebibytes: number, guard: Guard): SmallDisk | string {
    if (process.platform !== 'linux') return 'a file system in memory is only mounted on Linux';
    if (process.getuid?.() !== 0) return 'only root may mount a file system';
    mkdirSync(folder);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { stdio: 'pipe' });
    } catch (error) {
      return `no file system could be mounted: ${String((error as { stderr?: Buffer }).stderr ?? error).trim()}`;
    }
    guard.unmount(folder);
    return new SmallDisk(folder);
  }

  /** Another file takes what is left. */
  fill(): void {
    for (;;) {
      const { bavail, bsize } = statfsSync(this.folder);
      const bytes = Math.min(SLICE, bavail * bsize);
      if (bytes === 0) return;
      try {
        writeFileSync(this.#other, Buffer.alloc(bytes), { flag: 'a' });
      } catch (error) {
        // Somebody else was faster, which is as well.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        return;
      }
    }
  }

  makeRoom(): void {
    rmSync(this.#other, { force: true });
  }
}
