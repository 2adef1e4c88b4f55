import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { memoryStore, TestClock } from '@waybill/core/testing';
import pg from 'pg';
import { postgresStore } from '../../postgres/store.ts';
import { sqliteStore } from '../../sqlite/store.ts';
import { PostgresLog } from './postgres-log.ts';
import { type Levels, type Soaked, soak } from './week.ts';

/** What the process itself holds. The collector runs first, so that only what is still referred to counts. */
function ownLevels(): Levels {
  globalThis.gc!();
  return {
    'heap bytes': process.memoryUsage().heapUsed,
    handles: process.getActiveResourcesInfo().filter((kind) => kind !== 'Immediate').length,
  };
}

async function onSqlite(path: string): Promise<Soaked> {
  const clock = new TestClock();
  const store = await sqliteStore({ path, clock, durability: 'normal' });
  const measure = async () => {
    const db = new DatabaseSync(path, { readOnly: true });
    const names = db.prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'").all();
    const numberIn = (text: string) => Number(Object.values(db.prepare(text).get()!)[0]);
    const rows = names.map(({ name }) => [String(name), numberIn(`select count(*) from "${name}"`)] as const);
    const pages = numberIn('pragma page_count') - numberIn('pragma freelist_count');
    db.close();
    return {
      ...Object.fromEntries(rows),
      'used pages': pages,
      'log bytes': statSync(`${path}-wal`).size,
      ...ownLevels(),
    };
  };
  return { store, clock, measure };
}

async function onPostgres(url: string, schema: string): Promise<Soaked> {
  const clock = new TestClock();
  const store = await postgresStore({ url, schema, clock, listen: false });
  const log = new PostgresLog(url);
  const measure = async () => {
    const client = new pg.Client(url);
    await client.connect();
    const rowsOf = async (text: string) => (await client.query<unknown[]>({ text, rowMode: 'array' })).rows;
    // Partitions count with the table that they are part of.
    const names = await rowsOf(
      `select relname from pg_class where relnamespace = '"${schema}"'::regnamespace and relkind in ('r', 'p') and not relispartition`,
    );
    const levels: Levels = {};
    for (const [name] of names) {
      levels[String(name)] = Number((await rowsOf(`select count(*) from "${schema}"."${name}"`))[0]![0]);
    }
    const [partitions] = await rowsOf(
      `select count(*) from pg_class where relnamespace = '"${schema}"'::regnamespace and relispartition and relkind = 'r'`,
    );
    await client.end();
    return { ...levels, partitions: Number(partitions![0]), ...(await log.measure()), ...ownLevels() };
  };
  return { store, clock, measure };
}

/** The model has no tables: what it lists must go. */
async function onModel(): Promise<Soaked> {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const measure = async () => ({
    jobs: await store.count({ tenant: '' }, { atMost: 100_000 }),
    queues: (await store.queues.list('')).length,
    workers: (await store.workers.list('')).length,
    crons: (await store.crons.list('')).length,
    workflows: (await store.workflows.list({ tenant: '', limit: 100_000 })).items.length,
    events: (await store.events.read({ filter: { tenant: '*' }, limit: 100_000 })).events.length,
    ...ownLevels(),
  });
  return { store, clock, measure };
}

const [kind, ...where] = process.argv.slice(2) as [string, string, string];
const soaked = await (kind === 'sqlite' ? onSqlite(where[0]) : kind === 'postgres' ? onPostgres(...where) : onModel());
process.stdout.write(JSON.stringify(await soak(soaked)));
