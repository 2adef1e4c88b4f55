import { chown, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folder of one run: nothing in it outlives the run. */
export interface RunFolder {
  path: string;
  home: string;
  config: string;
  temp: string;
  inputFile: string;
  /** Where the program may write its result. It is not there until it does. */
  resultFile: string;
  remove(): Promise<void>;
}

/** Containers may share a folder for temporary files: the name tells on which of them a process id means something. */
const prefixOf = (pid: number | string): string => `waybill-run-${hostname().replaceAll(/[^\w.]/g, '_')}-${pid}-`;

/** Readable by one user alone, because inputs may be secret: that of the worker, or the one that the run has as its own. */
export async function makeRunFolder(
  input: string | null,
  base: string = tmpdir(),
  user: { uid: number; gid: number } | null = null,
): Promise<RunFolder> {
  const path = await mkdtemp(join(base, prefixOf(process.pid)));
  const folder: RunFolder = {
    path,
    home: join(path, 'home'),
    config: join(path, 'config'),
    temp: join(path, 'tmp'),
    inputFile: join(path, 'input.json'),
    resultFile: join(path, 'result.json'),
    // A process of the run may still write into it, so that it is not empty at the first try.
    remove: () => rm(path, { recursive: true, force: true, maxRetries: 3 }),
  };
  const files = input === null ? [] : [writeFile(folder.inputFile, input, { mode: 0o600 })];
  await Promise.all([mkdir(folder.home), mkdir(folder.config), mkdir(folder.temp), ...files]);
  // A worker that is not root cannot start the program either, and says so there.
  if (user === null || process.getuid?.() !== 0) return folder;
  const own = [folder.home, folder.config, folder.temp, ...(input === null ? [] : [folder.inputFile])];
  await Promise.all(own.map((name) => chown(name, user.uid, user.gid)));
  // The last, because from now on that user may change what is in there.
  await chown(path, user.uid, user.gid);
  return folder;
}

/** Removes folders whose worker is gone: one that was killed could not do it. */
export async function removeLeftFolders(base: string = tmpdir()): Promise<void> {
  const names = await readdir(base);
  const pattern = new RegExp(`^${prefixOf('(\\d+)').replaceAll('.', '\\.')}`);
  const left = names.filter((name) => {
    const pid = pattern.exec(name)?.[1];
    return pid !== undefined && !isAlive(Number(pid));
  });
  await Promise.allSettled(left.map((name) => rm(join(base, name), { recursive: true, force: true })));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process is alive all the same.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
