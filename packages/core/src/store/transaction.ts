/** A transaction that the caller has begun and will end. A client of `pg` is one as it stands. */
export interface Transaction {
  query(text: string, values: unknown[]): PromiseLike<{ rows: unknown[] }>;
}
