import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { startProxy } from '../testing/proxy.ts';
import { postgresUrl } from '../testing/server.ts';
import { openLink } from './open-link.ts';

test('B5: a server that does not answer a new connection of a shared pool is away, not the pool in use', async () => {
  const proxy = await startProxy(await postgresUrl());
  const pool = new pg.Pool({ connectionString: proxy.url, max: 2 });
  pool.on('error', () => {});
  const options = { pool, migrate: false, listen: false, connectTimeoutMs: 1_000, patienceMs: 0 } as const;
  const link = await openLink(options);
  onTestFinished(() => link.close());
  // The one connection there is stays with the application.
  const held = await pool.connect();
  proxy.freeze();
  await expect(link.query('select 1')).rejects.toMatchObject({
    code: 'unavailable',
    message: `PostgreSQL cannot be reached. (${new URL(proxy.url).host}/postgres)`,
  });
  expect(pool.totalCount).toBe(2);
  held.release(true);
  proxy.thaw();
  // A busy machine may need longer than the deadline for a new connection, but not for ever.
  await expect.poll(() => link.query('select 1').catch(() => null), { timeout: 30_000 }).toEqual([[1]]);
  // It waits for the connection that is still being made, which ends with the proxy.
  onTestFinished(() => void pool.end());
});

test('B5: a connection that comes after the deadline goes back to the pool, and who waited longer gets it', async () => {
  const pool = new pg.Pool({ connectionString: await postgresUrl(), max: 1 });
  onTestFinished(() => pool.end());
  const link = await openLink({ pool, migrate: false, listen: false, connectTimeoutMs: 100 });
  onTestFinished(() => link.close());
  const held = await pool.connect();
  const late = link.query('select 1');
  const theirs = pool.connect();
  await expect(late).rejects.toMatchObject({ code: 'unavailable', details: { pool_size: 1 } });
  held.release();
  (await theirs).release();
  expect(await link.query('select 1')).toEqual([[1]]);
  expect([pool.totalCount, pool.idleCount, pool.waitingCount]).toEqual([1, 1, 0]);
});
