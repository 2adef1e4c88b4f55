import { engine, silentLogger } from '@waybill/core';
import { expect, test } from 'vitest';
import { postgresStore } from './store.ts';
import { startProxy } from './testing/proxy.ts';
import { postgresUrl, tempLink, tempSchema, tempStore } from './testing/server.ts';

const QUICK = { queryTimeoutMs: 300, connectTimeoutMs: 300 };
/** How long a call is repeated while the server is away. */
const PATIENCE_MS = 20_000;

// fault: from some moment on the network passes nothing, and tells nobody
test('guarantee 11: an engine whose database went away is closed soon, however patient its calls are', async () => {
  const url = await postgresUrl();
  const proxy = await startProxy(url);
  const place = { url: proxy.url, schema: tempSchema(url) };
  const store = await tempStore(postgresStore, { ...place, ...QUICK, patienceMs: PATIENCE_MS });
  const waybill = engine({ store, logger: silentLogger, sweepEveryMs: 20 });
  const enqueue = () => waybill.jobs.enqueue({ type: 't', args: [] });
  await enqueue();
  proxy.freeze();
  const calls = Array.from({ length: 20 }, () => enqueue().catch(({ code }) => code));
  const begun = performance.now();
  await waybill.close();
  expect(performance.now() - begun).toBeLessThan(PATIENCE_MS / 2);
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['unavailable']));
});

test('while the server answers, a store that is closed soon works on until it is closed', async () => {
  const link = await tempLink({ ...QUICK, migrate: false });
  link.closeSoon();
  for (const _ of [1, 2, 3]) await link.query('select pg_sleep(0.15)::text');
  expect(await link.query('select 1')).toEqual([[1]]);
});
