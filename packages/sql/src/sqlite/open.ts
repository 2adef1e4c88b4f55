import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { WaybillError } from '@waybill/core';
import { migrate } from './migrate.ts';
import { IN_MEMORY, type ThreadOptions } from './protocol.ts';

/** How long SQLite itself waits for a lock before we wait without holding up the thread. */
const LOCK_WAIT_MS = 20;

/** Larger pages than SQLite's 4 KiB: measured 10 % less time per drained job, since rows are wide. */
const PAGE_BYTES = 8192;
const CACHE_KIB = 4 * 1024;
const LARGEST_IDLE_LOG_BYTES = 64 * 1024 * 1024;

/** Opens the file, makes it durable as asked and brings its schema up to date. Throws "busy" when others do the same. */
export function openDatabase({ path, durability }: ThreadOptions): DatabaseSync {
  if (path !== IN_MEMORY) makeFolder(path);
  const db = new DatabaseSync(path);
  try {
    db.exec(`pragma busy_timeout = ${LOCK_WAIT_MS}`);
    // Only has an effect while the file is empty.
    db.exec(`pragma page_size = ${PAGE_BYTES}`);
    const mode = Object.values(db.prepare('pragma journal_mode = wal').get() ?? {})[0];
    if (mode !== 'wal' && path !== IN_MEMORY) {
      throw new WaybillError('unsupported', `The file system does not allow write-ahead logging. (${path})`, {
        hint: 'Put the database on a local disk.',
      });
    }
    db.exec(`pragma synchronous = ${durability}`);
    db.exec(`pragma cache_size = -${CACHE_KIB}`);
    db.exec(`pragma journal_size_limit = ${LARGEST_IDLE_LOG_BYTES}`);
    db.exec('pragma temp_store = memory');
    migrate(db, path);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function makeFolder(path: string): void {
  const folder = dirname(path);
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw new WaybillError('unavailable', `The folder of the database cannot be created: ${folder}`, {
      hint: 'Check the path and its permissions.',
      cause,
    });
  }
}
