/** A transaction that the caller has begun and will end. A client of `pg` is one as it stands. */
export interface Transaction {
  query(text: string, values: unknown[]): PromiseLike<{ rows: unknown[] }>;
}

export interface InTransaction {
  /**
   * A transaction of the caller's own, in the database of the store: what the call does is part of it, and is rolled
   * back with it. Only PostgreSQL, and only without a server in between; refused with `unsupported` elsewhere.
   */
  within?: Transaction;
}
