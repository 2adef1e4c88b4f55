import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileAt } from '../paths.ts';

export const BATCH = 500;
const PLACES = 39;
const MIGRATIONS = fileAt('packages/sql/src/sqlite/migrations/');

/**
 * The yardstick: the same table, indexes and durability as the store's, driven by plain prepared statements on the main
 * thread, 500 rows per transaction, with no promise, no rule and no answer per job. No queue on this table can be faster.
 */
export class RawTable {
  readonly db: DatabaseSync;
  readonly #insert;
  readonly #ready;
  readonly #claim;
  readonly #complete;
  readonly #segment;
  #seq = 1_900_000_000_000_000;

  constructor(folder: string) {
    this.db = new DatabaseSync(path.join(folder, 'bench.db'));
    this.db.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -65536');
    this.db.exec(readFileSync(path.join(MIGRATIONS, '0001_initial.sql'), 'utf8'));
    this.#insert = this.db.prepare(`insert into jobs values (${Array(PLACES).fill('?').join(', ')})`);
    this.#ready = this.db.prepare(
      'select * from jobs where tenant = ? and queue = ? and rank is not null order by rank limit ?',
    );
    this.#claim = this.db.prepare(
      `update jobs set state = 'active', rank = null, next_at = ?, version = 2, run = 1, attempt = 1, claim_id = ?, worker_id = ?,
       lease_ms = 30000, lease_until = ?, started_at = ? where tenant = ? and id = ?`,
    );
    this.#complete = this.db.prepare(
      `update jobs set state = 'completed', next_at = null, version = 3, outcome = 'completed', lease_until = null, finished_at = ?
       where tenant = ? and id = ? and state = 'active' and run = 1 and claim_id = ?`,
    );
    this.#segment = this.db.prepare('insert into event_segments (at, first, count, body) values (?, 0, ?, ?)');
  }

  insertBatch(ids: readonly string[], spec: string): void {
    const now = Date.now();
    this.#transact(ids, () => {
      for (const id of ids) this.#insert.run(...this.#newRow(id, now, spec));
    });
  }

  /** Claims up to 500 jobs and answers their ids. */
  claimBatch(): string[] {
    const now = Date.now();
    const rows = this.#ready.all('', 'bench', BATCH) as { id: string }[];
    const ids = rows.map(({ id }) => id);
    this.#transact(ids, () => {
      for (const id of ids) this.#claim.run(now + 30_000, 'claim', 'worker', now + 30_000, now, '', id);
    });
    return ids;
  }

  completeBatch(ids: readonly string[]): void {
    const now = Date.now();
    this.#transact(ids, () => {
      for (const id of ids) this.#complete.run(now, '', id, 'claim');
    });
  }

  /** One event segment per transaction, as wide as the store's. */
  #transact(ids: readonly string[], run: () => void): void {
    this.db.exec('begin immediate');
    run();
    this.#segment.run(
      Date.now(),
      ids.length,
      JSON.stringify(ids.map((id) => ['job.event', id, 'bench.job', 'bench', 0, 0, 1, Date.now()])),
    );
    this.db.exec('commit');
  }

  #newRow(id: string, now: number, spec: string): (string | number | null)[] {
    this.#seq += 1;
    const columns: Record<string, string | number | null> = {
      ...{ tenant: '', id, type: 'bench.job', queue: 'bench', priority: 0, seq: this.#seq, state: 'available' },
      ...{ rank: `100${this.#seq}`, version: 1, run: 0, attempt: 0, max_attempts: 3, enqueued_at: now },
      ...{ dead: 0, holds_slot: 0, advance_pending: 0, created_at: now, spec },
    };
    return this.#columnNames().map((name) => columns[name] ?? null);
  }

  #names: string[] | undefined;
  #columnNames(): string[] {
    this.#names ??= (this.db.prepare('pragma table_info(jobs)').all() as { name: string }[]).map(({ name }) => name);
    return this.#names;
  }
}
