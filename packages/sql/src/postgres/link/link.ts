import type { Clock, GrownListener, WakeListener } from '@waybill/core';
import type { Queryable, TransactionOptions } from './connections.ts';

export type { Queryable, TransactionOptions } from './connections.ts';

/** The way to the server. Calls are repeated while it is away, so whatever goes through here must be repeatable. */
export interface Link extends Queryable {
  readonly schema: string;
  /** What this store's notifications of journals begin with, so that it does not hear itself. */
  readonly name: string;
  /** Whether other processes are heard. */
  readonly listens: boolean;
  /** The server's time, or the clock that was given. */
  readonly clock: Clock;
  /** Fills in `{schema}` and `{channel}`. */
  sql(text: string): string;
  /** These texts are asked for often. */
  prepare(texts: readonly string[]): Promise<void>;
  /**
   * As `query`, for what may have to look at everything: given up after `timeoutMs`, and not repeated for having been too
   * slow, because it would be as slow again.
   */
  search<R extends unknown[]>(text: string, values: readonly unknown[], timeoutMs: number): Promise<R[]>;
  /** As `query`, if the pool has a connection to spare right now. False: it has none, and nothing was done. */
  queryIfFree(text: string, values?: readonly unknown[]): Promise<boolean>;
  /** On one connection, and repeated as a whole. */
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Told of what this process wakes, and of what others do by NOTIFY. */
  onWake(listener: WakeListener): () => void;
  /** Tells the listeners of this process; others are told by `pg_notify({channel}, '["queue"]')` in SQL. */
  wake(queues?: readonly string[]): void;
  /** Told of journals that grow, by `grown` here and by NOTIFY elsewhere. */
  onGrown(listener: GrownListener): () => void;
  /** Tells the listeners of this process; others are told by `pg_notify({grown}, …)`, see `grown-payload.ts`. */
  grown(ids?: readonly string[]): void;
  /** From now on calls are repeated for as long as one statement may take, and after that not even begun while the server is away. */
  closeSoon(): void;
  close(): Promise<void>;
}
