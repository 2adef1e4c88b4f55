import { WaybillError } from '../errors.ts';
import type { Store, StoreWithin } from './store.ts';
import type { Transaction } from './transaction.ts';

export function storeWithin(store: Store, transaction: Transaction): StoreWithin {
  if (store.within) return store.within(transaction);
  const { name } = store.capabilities;
  throw new WaybillError('unsupported', `The store '${name}' cannot take part in a transaction of the caller.`, {
    hint: "Leave 'within' out and enqueue after the commit, or keep the jobs in the PostgreSQL database of your tables.",
  });
}
