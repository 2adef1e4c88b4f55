import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type StoreUnderTest, TestClock, testStore, testStoreAgainstModel } from '@waybill/core/testing';
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

async function inMemory(): Promise<StoreUnderTest> {
  const clock = new TestClock();
  const store = await sqliteStore({ path: ':memory:', clock });
  return { store, clock, close: () => store.close() };
}

testStore('sqlite', inFile);
testStoreAgainstModel('sqlite', inMemory, { runs: 50 });
