import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../../postgres/testing/embedded.ts';
import { execute, tempClient } from '../../postgres/testing/server.ts';
import { LOG_FLAGS, PostgresLog } from './postgres-log.ts';
import type { Levels } from './week.ts';

const SEGMENT = 16 * 1024 * 1024;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(LOG_FLAGS);
  await execute(server.url, 'create table t as select n, repeat($1, 100) as text from generate_series(1, 2000) n', [
    'x',
  ]);
  return () => server.remove();
});

/** Writes every row anew, and leaves as many dead ones for `VACUUM`. */
const liveADay = () => execute(server.url, 'update t set n = n + 1');

/** The levels at the end of the last day. */
async function afterDays(log: PostgresLog, days: number): Promise<Levels> {
  let levels = await log.measure();
  for (let day = 0; day < days; day++) {
    await liveADay();
    levels = await log.measure();
  }
  return levels;
}

describe('what the soak measures of the log of a PostgreSQL server', () => {
  test('stays at its level while nothing is held', async () => {
    const log = new PostgresLog(server.url);
    const level = await afterDays(log, 2);
    expect(level).toMatchObject({ 'log bytes': SEGMENT, 'open transactions': 0, 'replication slots': 0 });
    const later = await afterDays(log, 4);
    expect(later).toMatchObject({ 'log bytes': SEGMENT, 'table bytes': level['table bytes'] });
    expect(later['transactions since xmin']).toBeLessThanOrEqual(1);
    expect(later['log bytes written']).toBeLessThanOrEqual(level['log bytes written']! * 1.1);
  });

  test('rises with each day while a replication slot holds the log', async () => {
    const log = new PostgresLog(server.url);
    await execute(server.url, `select pg_create_physical_replication_slot('held', true)`);
    const drop = 'select pg_drop_replication_slot(slot_name) from pg_replication_slots';
    onTestFinished(() => execute(server.url, drop).then(() => {}));
    const held = await afterDays(log, 2);
    expect(held).toMatchObject({ 'replication slots': 1 });
    expect((await afterDays(log, 2))['log bytes']).toBeGreaterThanOrEqual(held['log bytes']! + 2 * SEGMENT);
    await execute(server.url, drop);
    expect(await log.measure()).toMatchObject({ 'log bytes': SEGMENT, 'replication slots': 0 });
  });

  test('rises with each day while an idle transaction holds dead rows', async () => {
    const log = new PostgresLog(server.url);
    const level = await afterDays(log, 2);
    const client = await tempClient(server.url);
    await client.query('begin isolation level repeatable read');
    await client.query('select 1');
    const held = await afterDays(log, 4);
    expect(held).toMatchObject({ 'open transactions': 1, 'log bytes': SEGMENT });
    expect(held['transactions since xmin']).toBeGreaterThanOrEqual(4);
    expect(held['table bytes']).toBeGreaterThan(level['table bytes']!);
    await client.query('commit');
    const after = await log.measure();
    expect(after).toMatchObject({ 'open transactions': 0 });
    expect(after['transactions since xmin']).toBeLessThanOrEqual(1);
  });

  test('rises when a day writes more than the one before', async () => {
    const log = new PostgresLog(server.url);
    const level = await afterDays(log, 2);
    await liveADay();
    await liveADay();
    expect((await log.measure())['log bytes written']).toBeGreaterThan(level['log bytes written']! * 1.25);
  });
});
