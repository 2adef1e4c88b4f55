import { type Damage, type StoreUnderTest, TestClock } from '@waybill/core/testing';
import pg from 'pg';
import { afterAll } from 'vitest';
import { type PostgresStoreOptions, postgresStore } from '../store.ts';
import { postgresUrl } from './server.ts';

const EMPTY_ALL = `do $$ declare t text; begin
  for t in select c.relname from pg_class c where c.relnamespace = '"{schema}"'::regnamespace
    and c.relkind in ('r', 'p') and not c.relispartition and c.relname not in ('migrations', 'log_state')
  loop execute format('delete from "{schema}".%I', t); end loop;
  update "{schema}".log_state set pruned_seq = null, pruned_xid = null, pruned_first = null;
end $$`;

let made = 0;

interface Place {
  schema: string;
  pool: pg.Pool;
}

async function newPlace(): Promise<Place> {
  const pool = new pg.Pool({ connectionString: await postgresUrl(), max: 8 });
  pool.on('error', () => {});
  return { schema: `contract_${process.pid}_${++made}`, pool };
}

/**
 * Opens empty stores, in schemas that were used and emptied, on connections that know their functions: making these takes
 * longer than most tests.
 */
export function useEmptiedStores(): (options?: PostgresStoreOptions) => Promise<StoreUnderTest> {
  const emptied: Place[] = [];
  afterAll(async () => {
    for (const { schema, pool } of emptied) {
      await pool.query(`drop schema "${schema}" cascade`);
      await pool.end();
    }
  });
  return async (options = {}) => {
    const place = emptied.pop() ?? (await newPlace());
    const { schema, pool } = place;
    const clock = new TestClock();
    const store = await postgresStore({ pool, schema, clock, ...options });
    const close = async () => {
      await store.close();
      await pool.query(EMPTY_ALL.replaceAll('{schema}', schema));
      emptied.push(place);
    };
    const spoil = async (table: string, column: string, tenant: string, key: string, value: string): Promise<void> => {
      const text = `update "${schema}".${table} set ${column} = '{' where tenant = $1 and ${key} = $2`;
      await pool.query(text, [tenant, value]);
    };
    const damage: Damage = {
      job: ({ tenant, id }) => spoil('job_bodies', 'spec', tenant, 'id', id),
      cron: ({ tenant, name }) => spoil('crons', 'template', tenant, 'name', name),
      record: async ({ tenant, kind, id }) => {
        const text = `update "${schema}".records set value = '{' where tenant = $1 and kind = $2 and id = $3`;
        await pool.query(text, [tenant, kind, id]);
      },
      limit: ({ tenant, key }) => spoil('limits', 'starts', tenant, 'key', key),
    };
    return { store, clock, damage, close };
  };
}
