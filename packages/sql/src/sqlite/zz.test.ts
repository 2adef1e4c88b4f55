import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type StoreUnderTest, TestClock, testStoreAgainstModel } from '@waybill/core/testing';
import { afterAll } from 'vitest';
import { sqliteStore } from './store.ts';

async function inFile(): Promise<StoreUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-sqlite-'));
  const clock = new TestClock();
  const store = await sqliteStore({ path: join(folder, 'waybill.db'), clock });
  const close = async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  };
  return { store, clock, close };
}

let histories = 0;
afterAll(() => process.stdout.write(`HISTORIES ${histories}\n`));
async function inMemory(): Promise<StoreUnderTest> {
  histories += 1;
  const clock = new TestClock();
  const store = await sqliteStore({ path: ':memory:', clock });
  return { store, clock, close: () => store.close() };
}

testStoreAgainstModel('sqlite', inMemory, { runs: 1000, timeLimitMs: 560_000 });
