import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Damage, type StoreUnderTest, TestClock } from '@waybill/core/testing';
import { sqliteStore } from '../store.ts';

/** A store in a file of its own, whose rows can be damaged by another connection. */
export async function inFile(): Promise<StoreUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-sqlite-'));
  const clock = new TestClock();
  const path = join(folder, 'waybill.db');
  const store = await sqliteStore({ path, clock });
  const close = async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  };
  const run = async (sql: string, ...values: string[]): Promise<void> => {
    // The thread of the store may hold the lock for a moment.
    const db = new DatabaseSync(path, { timeout: 10_000 });
    db.prepare(sql).run(...values);
    db.close();
  };
  // In turn: more than a number of JavaScript holds, so that the statement that reads it fails as a whole; and no JSON.
  let damaged = 0;
  const cells = ['seq = 1 << 60', "spec = '{'"];
  const damage: Damage = {
    job: ({ tenant, id }) =>
      run(`update jobs set ${cells[damaged++ % cells.length]} where tenant = ? and id = ?`, tenant, id),
    cron: ({ tenant, name }) => run(`update crons set template = '{' where tenant = ? and name = ?`, tenant, name),
    record: ({ tenant, kind, id }) =>
      run(`update records set value = '{' where tenant = ? and kind = ? and id = ?`, tenant, kind, id),
    limit: ({ tenant, key }) => run(`update limits set starts = '{' where tenant = ? and key = ?`, tenant, key),
  };
  return { store, clock, damage, close };
}
