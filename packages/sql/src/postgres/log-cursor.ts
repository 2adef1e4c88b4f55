import { WaybillError } from '@waybill/core';

/**
 * A place in the event log. PostgreSQL has no commit order to read by, so a reader remembers which transactions it has
 * seen: everything visible in the snapshot `base`, and of what became visible up to `target` the segments before `seq`
 * and of that one the events before `index`. Without a target everything since `base` is to come.
 */
export interface LogCursor {
  store: string;
  base: string;
  target: string | null;
  seq: number;
  index: number;
}

/** A snapshot in which nothing has happened: the numbers below 3 are no transactions. */
export const NOTHING_SEEN = '3:3:';

/** Colons and commas of the snapshots are spelled so that a cursor can stand in an address as it is. */
const spell = (snapshot: string): string => snapshot.replaceAll(':', '_').replaceAll(',', '-');
const read = (text: string): string => text.replaceAll('_', ':').replaceAll('-', ',');

export function formatCursor({ store, base, target, seq, index }: LogCursor): string {
  const head = `${store}.${spell(base)}`;
  return target === null ? head : `${head}.${spell(target)}.${seq}.${index}`;
}

const CURSOR = /^([0-9a-f]{32})\.(\d+_\d+_[\d-]*)(?:\.(\d+_\d+_[\d-]*)\.(\d{1,15})\.(\d{1,9}))?$/;

export function parseCursor(text: string): LogCursor {
  const match = CURSOR.exec(text);
  if (!match) throw new WaybillError('invalid_request', 'The event cursor was not made by this store.');
  const [, store, base, target, seq, index] = match;
  if (target === undefined) return { store: store!, base: read(base!), target: null, seq: 0, index: 0 };
  return { store: store!, base: read(base!), target: read(target), seq: Number(seq), index: Number(index) };
}
