import type { CustomTypesConfig, Pool, PoolClient } from 'pg';
import { cancelStatement } from './cancel.ts';
import { faultOf } from './failures.ts';

/** Anything that takes statements: the link itself, or one transaction on it. */
export interface Queryable {
  /** Rows as arrays, int8 as number. */
  query<R extends unknown[]>(text: string, values?: readonly unknown[]): Promise<R[]>;
}

const swallow = () => {};

/** The pool, with each connection given back in a state that the next one can rely on. */
export class Connections {
  readonly #pool: Pool;
  readonly #types: CustomTypesConfig;
  readonly #queryTimeoutMs: number;

  constructor(pool: Pool, types: CustomTypesConfig, queryTimeoutMs: number) {
    this.#pool = pool;
    this.#types = types;
    this.#queryTimeoutMs = queryTimeoutMs;
  }

  /** The same connections with another timeout. */
  within(queryTimeoutMs: number): Connections {
    return new Connections(this.#pool, this.#types, queryTimeoutMs);
  }

  /** `pool.query` is not used, since it throws a connection away whenever a statement is refused. */
  async use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    // A connection in use that breaks tells so by this event too, and nobody listening would end the process.
    client.on('error', swallow);
    let isLost = false;
    try {
      return await work(client);
    } catch (error) {
      const fault = faultOf(error);
      isLost = fault.isLost ?? false;
      if (fault.isUnanswered) cancelStatement(client);
      throw error;
    } finally {
      client.off('error', swallow);
      client.release(isLost);
    }
  }

  async query<R extends unknown[]>(client: PoolClient, text: string, values: readonly unknown[] = []): Promise<R[]> {
    return (await this.#run<R>(client, text, values)).rows;
  }

  /**
   * The server gives a client that falls silent in mid-transaction no more time than the client gives the server: a
   * process that was frozen, or cut off, must not hold its locks until the network tells.
   */
  async transaction<T>(client: PoolClient, work: (tx: Queryable) => Promise<T>): Promise<T> {
    await this.#run(client, `begin; set local idle_in_transaction_session_timeout = ${this.#queryTimeoutMs}`);
    let result: T;
    try {
      result = await work({ query: (text, values) => this.query(client, text, values) });
    } catch (error) {
      // On a lost connection there is nothing to roll back, and the server knows by itself.
      if (!faultOf(error).isLost) await this.#run(client, 'rollback');
      throw error;
    }
    // After a failed statement whose error was swallowed, PostgreSQL answers a commit by rolling back.
    const { command } = await this.#run(client, 'commit');
    if (command !== 'COMMIT') throw new Error('The transaction was rolled back since one of its statements failed.');
    return result;
  }

  #run<R extends unknown[]>(client: PoolClient, text: string, values: readonly unknown[] = []) {
    const query = { text, values: values as unknown[], rowMode: 'array' as const, types: this.#types };
    return client.query<R>({ ...query, query_timeout: this.#queryTimeoutMs } as typeof query);
  }
}
