import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Waits for the end of its input, then stops the server of the folder and removes it. */
const SCRIPT = `
  cat > /dev/null
  if pid=$(head -n 1 "$0/postmaster.pid" 2> /dev/null); then
    kill -INT "$pid"
    while kill -0 "$pid" 2> /dev/null; do sleep 0.1; done
  fi
  rm -rf "$0"`;

/**
 * Cleans up after this process however it ends, even killed: its input ends with it. In a process group of its own, so
 * that Ctrl-C does not reach it first.
 */
export function guardFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const guard = spawn('sh', ['-c', SCRIPT, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  guard.unref();
  (guard.stdin as Socket).unref();
}
