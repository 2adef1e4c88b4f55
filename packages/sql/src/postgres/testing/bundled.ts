import type { Store } from '@waybill/core';
import { TestClock } from '@waybill/core/testing';
import { expect } from 'vitest';
import { type PostgresStoreOptions, postgresStore } from '../store.ts';
import { execute, postgresUrl, tempClient, tempSchema, tempStore } from './server.ts';

export interface Bundled {
  store: Store;
  clock: TestClock;
  url: string;
  schema: string;
  /** How many rows there are in each of the tables. */
  rows(...tables: string[]): Promise<number[]>;
}

/** A store that keeps all runs of plain jobs in bundles, unless told otherwise. */
export async function bundledStore(options: PostgresStoreOptions = {}): Promise<Bundled> {
  const url = options.url ?? (await postgresUrl());
  const schema = tempSchema(url);
  const clock = new TestClock();
  const store = await tempStore(postgresStore, { bundleFrom: 1, clock, listen: false, ...options, url, schema });
  const count = async (table: string) =>
    Number((await execute(url, `select count(*) from "${schema}".${table}`))[0]![0]);
  return { store, clock, url, schema, rows: (...tables) => Promise.all(tables.map(count)) };
}

/** Whoever writes to the table waits until it is let go. */
export async function holdUp({ url, schema }: Bundled, table: string): Promise<() => Promise<unknown>> {
  const client = await tempClient(url);
  await client.query('begin');
  await client.query(`lock table "${schema}".${table} in share mode`);
  return () => client.query('commit');
}

/** Resolves when so many statements of the store wait for a lock. */
export async function untilWaiting({ url, schema }: Bundled, count: number): Promise<void> {
  const text = `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and position($1 in query) > 0`;
  await expect.poll(async () => Number((await execute(url, text, [schema]))[0]![0]), { timeout: 10_000 }).toBe(count);
}
