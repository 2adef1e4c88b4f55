import { engine, silentLogger } from '@waybill/core';
import { memoryTransport } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { postgresStore } from './store.ts';
import { postgresUrl, tempClient, tempSchema, tempStore } from './testing/server.ts';

const FIRST_REMINDER_MS = 25_000;

async function open() {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const store = await tempStore(postgresStore, { url, schema, listen: false });
  let told: Promise<void> | undefined;
  const useReminders = store.useReminders!.bind(store);
  store.useReminders = (firstMs) => (told = useReminders(firstMs));
  const transport = memoryTransport({ clock: store.clock });
  const waybill = engine({ store, transport, maintenance: false, logger: silentLogger });
  await told;
  return { schema, waybill, client: await tempClient(url) };
}

test('A19: a job that comes in by SQL alone carries its reminder in the row', async () => {
  const { schema, waybill, client } = await open();
  const { rows } = await client.query<{ id: string }>(`select "${schema}".enqueue('by.sql') as id`);
  const job = await waybill.jobs.get(rows[0]!.id);
  expect(job.nextAt).toBe(job.enqueuedAt! + FIRST_REMINDER_MS);
});

test('A19: so does one that is enqueued in the transaction of its caller', async () => {
  const { waybill, client } = await open();
  await client.query('begin');
  const { job } = await waybill.jobs.enqueue({ type: 'within.one', args: [] }, { within: client });
  await client.query('commit');
  const stored = await waybill.jobs.get(job.id);
  expect(stored.nextAt).toBe(stored.enqueuedAt! + FIRST_REMINDER_MS);
});

test('A19: a store that no engine uses over hints writes no reminders', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const store = await tempStore(postgresStore, { url, schema, listen: false });
  const client = await tempClient(url);
  const { rows } = await client.query<{ id: string }>(`select "${schema}".enqueue('by.sql') as id`);
  expect((await store.get([{ tenant: '', id: rows[0]!.id }]))[0]).toMatchObject({ state: 'available', nextAt: null });
});
