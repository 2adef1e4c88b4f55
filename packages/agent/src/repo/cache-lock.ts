import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { WaybillError } from '@waybill/core';

/** A clone of a large repository may take that long, and others wait for it. */
const WAIT_MS = 15 * 60_000;
const LOOK_AGAIN_MS = 50;
const BUSY = 5;

/**
 * Does the work while no other process and no other run of this one does its own under the same file. The kernel holds the
 * lock, by way of SQLite, so it is free as soon as its owner is dead, however that died.
 */
export async function whileLocked<T>(
  file: string,
  signal: AbortSignal,
  work: () => Promise<T>,
  waitMs: number = WAIT_MS,
): Promise<T> {
  const lock = await acquired(file, signal, performance.now() + waitMs);
  try {
    return await work();
  } finally {
    lock.close();
  }
}

async function acquired(file: string, signal: AbortSignal, giveUpAt: number): Promise<DatabaseSync> {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    for (;;) {
      signal.throwIfAborted();
      if (isTaken(database)) return database;
      if (performance.now() > giveUpAt)
        throw new WaybillError(
          'unavailable',
          `Another run works on the copy of the repository at ${file} for too long.`,
          {
            hint: 'End the process that holds it, or give this task a repoCache of its own.',
          },
        );
      await delay(LOOK_AGAIN_MS);
    }
  } catch (error) {
    database.close();
    throw error;
  }
}

function isTaken(database: DatabaseSync): boolean {
  try {
    database.exec('begin exclusive');
    return true;
  } catch (error) {
    const { errcode } = error as { errcode?: number };
    if (((errcode ?? 0) & 0xff) === BUSY) return false;
    throw error;
  }
}
