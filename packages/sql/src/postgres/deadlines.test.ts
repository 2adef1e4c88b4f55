import { silentLogger } from '@waybill/core';
import { expect, test } from 'vitest';
import { postgresStore } from './store.ts';
import { AT_MOST_MS, BOUNDS, tryEveryCall } from './testing/every-call.ts';
import { postgresUrl, tempLink, tempSchema } from './testing/server.ts';
import { startSlowProxy, type Trouble } from './testing/slow-proxy.ts';

// fault: answers never come, come a byte in a second, or end the connection with their first byte
test.each<Trouble>(['swallow', 'trickle', 'reset'])(
  'guarantee 10: behind a network that does this to answers: %s, every call ends in time and has one effect',
  { timeout: 60_000 },
  (trouble) => tryEveryCall(trouble),
);

// fault: each answer comes just in time, and a transaction has many
test('a transaction of many slow statements ends in time, too', { timeout: 60_000 }, async () => {
  const link = await tempLink({ migrate: false, patienceMs: 0, queryTimeoutMs: 1_000 });
  let statements = 0;
  const slow = link.transaction(async (tx) => {
    for (; statements < 60; statements += 1) await tx.query('select pg_sleep(0.5)');
  });
  await expect(slow).rejects.toMatchObject({ code: 'unavailable' });
  expect(statements).toBeLessThan(10);
});

// fault: the server never answers while the store is closed
test('a store behind a network that swallows answers is closed in time', { timeout: 60_000 }, async () => {
  const url = await postgresUrl();
  const proxy = await startSlowProxy(url);
  const schema = tempSchema(url);
  const store = await postgresStore({ url: proxy.url, schema, logger: silentLogger, ...BOUNDS });
  // Told as soon as the store listens.
  await new Promise<void>((resolve) => store.onWake(() => resolve()));
  proxy.trouble = 'swallow';
  const begun = performance.now();
  await store.close();
  expect(performance.now() - begun).toBeLessThan(AT_MOST_MS);
  await expect(postgresStore({ url: proxy.url, schema, logger: silentLogger, ...BOUNDS })).rejects.toMatchObject({
    code: 'unavailable',
  });
});
