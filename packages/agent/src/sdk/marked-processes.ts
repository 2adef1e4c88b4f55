import { readdir, readFile } from 'node:fs/promises';

/** One may start another while it is looked for. */
const MOST_ROUNDS = 5;

/**
 * Kills every process whose environment has this variable with this value: what a tool has left in the background, in a
 * session of its own. Does nothing where there is no /proc.
 */
export async function killMarked(name: string, value: string): Promise<number> {
  let killed = 0;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const found = await marked(`${name}=${value}`);
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL');
        killed += 1;
      } catch {
        // It has ended meanwhile, or belongs to another user.
      }
    }
    if (found.length === 0) break;
  }
  return killed;
}

async function marked(variable: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const names = await readdir('/proc').catch(() => [] as string[]);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => ((await hasVariable(pid, variable)) ? pid : null)));
  return found.filter((pid) => pid !== null && pid !== process.pid) as number[];
}

async function hasVariable(pid: number, variable: string): Promise<boolean> {
  try {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    // A process that has ended and was not waited for has none.
    return environment.split('\0').includes(variable);
  } catch {
    return false;
  }
}
