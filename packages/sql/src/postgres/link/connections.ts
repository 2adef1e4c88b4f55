import { acquire, hasFree } from './acquire.ts';
import { cancelStatement } from './cancel.ts';
import { faultOf } from './failures.ts';
import type { CustomTypesConfig, Pool, PoolClient, QueryArrayConfig } from './pg-types.ts';
import { Prepared } from './prepared.ts';

/** Anything that takes statements: the link itself, or one transaction on it. */
export interface Queryable {
  /** Rows as arrays, int8 as number. */
  query<R extends unknown[]>(text: string, values?: readonly unknown[]): Promise<R[]>;
}

const swallow = () => {};

/** A connection that breaks while it is in use tells so by an event too, and nobody listening would end the process. */
const silence = (client: PoolClient): void => {
  if (!client.listeners('error').includes(swallow)) client.on('error', swallow);
};

/**
 * Takes a connection out of its pool and closes the socket. `pg` would say goodbye and wait for the other side to close; a
 * network that has forgotten the connection never does, and the open socket would keep the process alive.
 */
function cutOff(client: PoolClient): void {
  client.release(true);
  client.connection.stream.destroy();
}

export interface TransactionOptions {
  /** How long each statement may take. @defaultValue `queryTimeoutMs` of the link */
  timeoutMs?: number;
  /** How long all statements together may take. @defaultValue as long as each of them does */
  wholeMs?: number;
  /** How long each statement may wait for a lock before it is refused (55P03). @defaultValue what the server has */
  lockWaitMs?: number | undefined;
}

/** The pool, with each connection given back in a state that the next one can rely on. */
export class Connections {
  readonly #pool: Pool;
  readonly #types: CustomTypesConfig;
  readonly #queryTimeoutMs: number;
  readonly #connect: () => Promise<PoolClient>;
  readonly #prepared = new Prepared();
  /** When each connection answered last. */
  readonly #answeredAt = new WeakMap<PoolClient, number>();
  /** When a statement began that was never answered. */
  #silentSince = Number.NEGATIVE_INFINITY;

  /** `sharedTimeoutMs`: how long to wait for a connection of a pool that is not ours. Our own pool has its own limit. */
  constructor(pool: Pool, types: CustomTypesConfig, queryTimeoutMs: number, sharedTimeoutMs: number | null) {
    this.#pool = pool;
    this.#types = types;
    this.#queryTimeoutMs = queryTimeoutMs;
    this.#connect = sharedTimeoutMs === null ? () => pool.connect() : () => acquire(pool, sharedTimeoutMs);
    // Not when `connect` resolves: the server may end a connection in the same breath as it accepts it.
    pool.on('acquire', silence);
  }

  /** Leaves the pool to its owner. */
  leave(): void {
    this.#pool.off('acquire', silence);
  }

  /** Whether `use`, called in this very turn, waits for nobody. */
  hasFree(): boolean {
    return hasFree(this.#pool);
  }

  /** `pool.query` is not used, since it throws a connection away whenever a statement is refused. */
  async use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connectAlive();
    const begun = performance.now();
    let isLost = false;
    try {
      return await work(client);
    } catch (error) {
      this.#prepared.failed(error);
      const fault = faultOf(error);
      isLost = fault.isLost ?? false;
      if (fault.isUnanswered) {
        this.#silentSince = Math.max(this.#silentSince, begun);
        cancelStatement(client);
      }
      throw error;
    } finally {
      if (!isLost) this.#answeredAt.set(client, performance.now());
      if (isLost) cutOff(client);
      else client.release();
    }
  }

  /**
   * A network that forgets connections forgets all of them. When one was not answered, those that have not answered since
   * are replaced, because each of them would cost a call its whole time.
   */
  async #connectAlive(): Promise<PoolClient> {
    for (;;) {
      const client = await this.#connect();
      if ((this.#answeredAt.get(client) ?? Number.POSITIVE_INFINITY) >= this.#silentSince) return client;
      cutOff(client);
    }
  }

  /** From now on the server is to keep what it has learned of these statements, where it can. */
  async prepare(client: PoolClient, texts: readonly string[]): Promise<void> {
    for (const text of texts) this.#prepared.add(text);
    const [row] = await this.query<[number]>(client, 'select pg_backend_pid()');
    this.#prepared.allowIfDirect(client, row![0]);
  }

  async query<R extends unknown[]>(
    client: PoolClient,
    text: string,
    values?: readonly unknown[],
    timeoutMs?: number,
  ): Promise<R[]> {
    return (await this.#run<R>(client, text, values, timeoutMs)).rows;
  }

  /**
   * The server gives a client that falls silent in mid-transaction no more time than the client gives the server: a
   * process that was frozen, or cut off, must not hold its locks until the network tells.
   */
  async transaction<T>(
    client: PoolClient,
    work: (tx: Queryable) => Promise<T>,
    { timeoutMs = this.#queryTimeoutMs, lockWaitMs, wholeMs = Number.POSITIVE_INFINITY }: TransactionOptions = {},
  ): Promise<T> {
    const until = performance.now() + wholeMs;
    /** Of a statement. The last one has what is left of the whole. */
    const left = (most = timeoutMs): number => Math.max(1, Math.min(most, Math.round(until - performance.now())));
    const lockWait = lockWaitMs === undefined ? '' : `; set local lock_timeout = ${lockWaitMs}`;
    await this.#run(
      client,
      `begin isolation level read committed; set local idle_in_transaction_session_timeout = ${timeoutMs}${lockWait}`,
    );
    let result: T;
    try {
      result = await work({ query: (text, values) => this.query(client, text, values, left()) });
    } catch (error) {
      // On a lost connection there is nothing to roll back, and the server knows by itself.
      if (!faultOf(error).isLost) await this.#run(client, 'rollback');
      throw error;
    }
    // After a failed statement whose error was swallowed, PostgreSQL answers a commit by rolling back.
    const { command } = await this.#run(client, 'commit', [], left(this.#queryTimeoutMs));
    if (command !== 'COMMIT') throw new Error('The transaction was rolled back since one of its statements failed.');
    return result;
  }

  #run<R extends unknown[]>(
    client: PoolClient,
    text: string,
    values: readonly unknown[] = [],
    timeoutMs = this.#queryTimeoutMs,
  ) {
    const name = this.#prepared.nameOf(text);
    // All of its own and nothing inherited: whoever traces the queries may pass on a copy.
    const query: QueryArrayConfig & { query_timeout: number } = {
      text,
      values: values as unknown[],
      rowMode: 'array',
      types: this.#types,
      query_timeout: timeoutMs,
    };
    if (name !== undefined) query.name = name;
    return client.query<R>(query);
  }
}
