import { WaybillError } from '@waybill/core';
import { expect, test } from 'vitest';
import { postgresStore } from './store.ts';
import { execute, postgresUrl, tempClient, tempSchema, tempStore } from './testing/server.ts';

test('B15: a list or count that takes too long is given up once, here and on the server', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  // Would be repeated for ten minutes.
  const config = { application_name: schema };
  const store = await tempStore(postgresStore, {
    url,
    schema,
    config,
    listen: false,
    queryTimeoutMs: 300,
    patienceMs: 600_000,
  });
  const locker = await tempClient(url);
  await locker.query(`begin; lock table "${schema}".job_ends in access exclusive mode`);
  const filter = { tenant: '', types: ['there.is.none'] };
  for (const search of [() => store.list({ filter, limit: 10 }), () => store.count(filter, { atMost: 10 })]) {
    const error: unknown = await search().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WaybillError);
    expect(error).toMatchObject({ code: 'timeout', hint: expect.stringContaining('state') });
  }
  const busy = `select count(*)::int from pg_stat_activity where application_name = $1 and state = 'active'`;
  await expect.poll(async () => (await execute(url, busy, [schema]))[0]![0], { timeout: 10_000 }).toBe(0);
  await locker.query('commit');
  expect(await store.list({ filter, limit: 10 })).toEqual({ items: [] });
});
