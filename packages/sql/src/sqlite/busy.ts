import { setTimeout as sleep } from 'node:timers/promises';
import { isBusy } from './failures.ts';

const SHORTEST_WAIT_MS = 2;
const LONGEST_WAIT_MS = 50;

/**
 * Does `work` again while another process holds the file, for `timeoutMs` at most. Waiting with jitter keeps
 * processes that met once from meeting again, and leaves the thread free to take in further calls.
 */
export async function whileBusy<T>(timeoutMs: number, work: () => T): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= giveUpAt) throw error;
    }
    await sleep(Math.min(LONGEST_WAIT_MS, SHORTEST_WAIT_MS * 2 ** tries) * (0.5 + Math.random()));
  }
}
