import pg from 'pg';
import type { Levels } from './week.ts';

/**
 * Flags of a server whose write-ahead log tells of its clients alone. The server's own vacuum and checkpoints follow the
 * real clock, on which a virtual day takes seconds, so `PostgresLog` runs one of each at the end of a virtual day. One
 * each day, because the first change of a page after a checkpoint logs the whole page. Without recycling, `pg_wal` holds
 * only what the server still needs, and no old segments that are renamed for later.
 */
export const LOG_FLAGS = ['autovacuum=off', 'checkpoint_timeout=1d', 'max_wal_size=16GB', 'wal_recycle=off'];

/** A virtual day ends while the store is idle: a transaction that is open then was left open. */
const HOLDERS = `
  select (select count(*) from pg_replication_slots),
    (select count(*) from pg_stat_activity
      where pid <> pg_backend_pid() and xact_start is not null and backend_type in ('client backend', 'walsender'))`;

/** An empty table that all databases share: freezing it moves its `relfrozenxid` to the xmin horizon of the server. */
const EMPTY = 'pg_catalog.pg_replication_origin';

const SIZES = `
  select (select sum(size) from pg_ls_waldir()),
    (select sum(pg_total_relation_size(oid)) from pg_class where relkind in ('r', 'm')),
    (select age(relfrozenxid) from pg_class where oid = '${EMPTY}'::regclass),
    pg_current_wal_insert_lsn()`;

/** The write-ahead log of a server that nobody else uses, and what keeps the server from removing what is over. */
export class PostgresLog {
  readonly #url: string;
  #since: unknown = null;

  constructor(url: string) {
    this.#url = url;
  }

  /** Ends a virtual day. What this call itself writes counts to no day. */
  async measure(): Promise<Levels> {
    const client = new pg.Client(this.#url);
    await client.connect();
    const row = async (text: string, values: unknown[] = []) =>
      (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows[0]!;
    try {
      const [written] = await row('select coalesce(pg_current_wal_insert_lsn() - $1::pg_lsn, 0)', [this.#since]);
      const [slots, transactions] = await row(HOLDERS);
      await client.query('vacuum');
      await client.query(`vacuum (freeze) ${EMPTY}`);
      // A checkpoint removes the segments before the one in which it begins, so that one shall be new.
      await client.query('select pg_switch_wal()');
      await client.query('checkpoint');
      const [log, tables, age, now] = await row(SIZES);
      this.#since = now;
      return {
        'log bytes': Number(log),
        'log bytes written': Number(written),
        'replication slots': Number(slots),
        'open transactions': Number(transactions),
        'transactions since xmin': Number(age),
        'table bytes': Number(tables),
      };
    } finally {
      await client.end();
    }
  }
}
