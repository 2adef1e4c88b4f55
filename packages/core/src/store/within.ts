import { WaybillError } from '../errors.ts';
import type { Store } from './store.ts';

/** A transaction that the caller has begun and will end. A client of `pg` is one as it stands. */
export interface Transaction {
  query(text: string, values: unknown[]): PromiseLike<{ rows: unknown[] }>;
}

/**
 * What of a store can be part of a caller's transaction: others see it from the commit on, and never after a rollback.
 * Nothing is repeated here, since what fails may have spoilt the transaction; the caller repeats it as a whole.
 */
export type StoreWithin = Pick<Store, 'insert' | 'get' | 'apply'>;

export function storeWithin(store: Store, transaction: Transaction): StoreWithin {
  if (store.within) return store.within(transaction);
  const { name } = store.capabilities;
  throw new WaybillError('unsupported', `The store '${name}' cannot take part in a transaction of the caller.`, {
    hint: "Leave 'within' out and enqueue after the commit, or keep the jobs in the PostgreSQL database of your tables.",
  });
}
