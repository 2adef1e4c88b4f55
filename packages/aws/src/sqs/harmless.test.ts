import type { Clock, Store } from '@waybill/core';
import { sqliteStore } from '@waybill/sql/sqlite';
import { testHarmlessHints } from './testing/test-harmless-hints.ts';

const sqlite = (clock: Clock): Promise<Store> => sqliteStore({ path: ':memory:', clock });

testHarmlessHints('sqlite + sqs', sqlite, 1_000);

/** As a store without an index of what is ready: only reminders bring back what is lost. */
async function sqliteById(clock: Clock): Promise<Store> {
  const store = await sqlite(clock);
  return new Proxy(store, {
    get: (_, name) => {
      if (name === 'capabilities') return { ...store.capabilities, claimsByRank: false };
      const value: unknown = Reflect.get(store, name, store);
      return typeof value === 'function' ? value.bind(store) : value;
    },
  });
}

/** Reminders come after 25 and 125 seconds, and virtual seconds pass while real requests are under way. */
testHarmlessHints('sqlite by id + sqs', sqliteById, 60_000);
