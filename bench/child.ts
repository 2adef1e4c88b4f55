import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';

/** No run takes as long as this, so one that does hangs. */
const AT_MOST_MS = 30 * 60_000;

/** Runs a script with an order in JSON and answers what it printed. What it complains of is seen at once. */
export async function runScript(file: string, order: unknown, flags: readonly string[] = []): Promise<string> {
  const child = spawn(process.execPath, [...flags, file, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: AT_MOST_MS,
  });
  const [printed, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`${path.basename(file)} ended with ${signal ?? code}.`);
  return printed;
}
