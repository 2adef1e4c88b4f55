import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { SmallDisk } from './small-disk.ts';
import type { ChaosStore } from './store.ts';

/** One file, shared by all engines, on a disk that can be filled where one can be mounted. */
export const sqlite: ChaosStore = {
  hasNetwork: false,
  faults: ['fill-disk', 'fill-disk', 'lock-file', 'lock-file'],
  pace: { leaseMs: 2_500, lateLeaseMs: 600, sweepEveryMs: 300, faultEveryMs: [300, 2_000], jobsPerSecond: 40 },
  isOrderExact: true,
  clockErrorMs: 5,
  open: async ({ folder, guard, minutes }) => {
    const disk = SmallDisk.mount(path.join(folder, 'disk'), 64 + Math.ceil(48 * minutes), guard);
    const file = path.join(typeof disk === 'string' ? folder : disk.folder, 'waybill.db');
    const url = `sqlite:${file}`;
    return {
      url,
      urlVia: () => url,
      env: {},
      leftOut: typeof disk === 'string' ? { 'fill-disk': disk } : {},
      inject: async (fault, lastsMs) => {
        if (fault === 'lock-file') return holdLock(file, lastsMs);
        if (fault !== 'fill-disk' || typeof disk === 'string') throw new Error(`SQLite takes no ${fault}.`);
        disk.fill();
        await sleep(lastsMs);
        disk.makeRoom();
      },
      close: async () => {},
    };
  },
};

/** As a backup, or a migration by hand, does it. */
async function holdLock(file: string, lastsMs: number): Promise<void> {
  const other = new DatabaseSync(file);
  try {
    // Asked again and again, since a wait inside of SQLite would hold up this process and its links.
    while (!hasBegun(other)) await sleep(2);
    await sleep(lastsMs);
    other.exec('rollback');
  } finally {
    other.close();
  }
}

function hasBegun(database: DatabaseSync): boolean {
  try {
    database.exec('begin immediate');
    return true;
  } catch (error) {
    if (/locked|busy/i.test(String(error))) return false;
    throw error;
  }
}
