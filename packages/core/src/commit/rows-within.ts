import type { StoreWithin } from '../store/store.ts';
import { changeOf, type RowWriter } from './row-writer.ts';

/** Rows as a caller's transaction sees and writes them. Nobody is told: whether it commits, only its caller learns. */
export const rowsWithin = (store: StoreWithin): Pick<RowWriter, 'read' | 'write'> => ({
  read: async (key) => (await store.get([key]))[0] ?? null,
  write: async (before, expect, after) => (await store.apply([changeOf(before, expect, after)]))[0]!,
});
