import { readFile } from 'node:fs/promises';

/** Whether the process is there and not just waited for. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
}

/** Processes that are not our children send no event when they end, so they are looked at until they are gone. */
export async function gone(pid: number, withinMs = 10_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (await isAlive(pid)) {
    if (performance.now() > end) throw new Error(`Process ${pid} is still there after ${withinMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A command for Bash that writes its process to a file, and does not end by itself. */
export const ENDLESS = 'echo $$ > pid.txt; echo begun; exec sleep 300';

export const pidIn = async (path: string): Promise<number> => {
  const end = performance.now() + 30_000;
  for (;;) {
    const pid = Number(await readFile(path, 'utf8').catch(() => ''));
    if (pid > 0) return pid;
    if (performance.now() > end) throw new Error(`Nothing was written to ${path} within 30 s.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

/** Resolves when a file holds the text, which another process writes. */
export async function written(path: string, text: string): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await readFile(path, 'utf8').catch(() => '')).includes(text)) {
    if (performance.now() > end) throw new Error(`'${text}' was not written to ${path} within 60 s.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Resolves when another process has made the file, or when this time has passed without it. */
export async function madeWithin(ms: number, path: string): Promise<void> {
  const end = performance.now() + ms;
  while (performance.now() < end && (await readFile(path).catch(() => null)) === null)
    await new Promise((resolve) => setTimeout(resolve, 20));
}
