import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';

/** No run takes as long as this, so one that does hangs. */
const AT_MOST_MS = 30 * 60_000;

export interface ScriptOptions {
  flags?: readonly string[];
  /** Ends the script. */
  signal?: AbortSignal;
}

/** Runs a script with an order in JSON and answers what it printed. What it complains of is seen at once. */
export async function runScript(
  file: string,
  order: unknown,
  { flags = [], signal }: ScriptOptions = {},
): Promise<string> {
  signal?.throwIfAborted();
  const child = spawn(process.execPath, [...flags, file, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: AT_MOST_MS,
  });
  const [printed] = await Promise.all([text(child.stdout), ended(child, path.basename(file), signal)]);
  return printed;
}

/** Waits for the exit also after the signal, so that no process is left that writes to a folder being removed. */
export async function ended(child: ChildProcess, name: string, signal?: AbortSignal): Promise<void> {
  const end = () => child.kill();
  signal?.addEventListener('abort', end, { once: true });
  try {
    const [code, killedBy] = await once(child, 'exit');
    signal?.throwIfAborted();
    if (code !== 0) throw new Error(`${name} ended with ${killedBy ?? code}.`);
  } finally {
    signal?.removeEventListener('abort', end);
  }
}
