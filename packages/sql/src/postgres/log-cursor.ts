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
  const [, store, base, target, seq, index] = CURSOR.exec(text) ?? [];
  const snapshots = [base, target].filter((some) => some !== undefined).map(read);
  if (store === undefined || !snapshots.every(isSnapshot)) {
    throw new WaybillError('invalid_request', 'The event cursor was not made by this store.');
  }
  const [seen, reading] = snapshots;
  if (reading === undefined) return { store, base: seen!, target: null, seq: 0, index: 0 };
  return { store, base: seen!, target: reading, seq: Number(seq), index: Number(index) };
}

/** A cursor to read up to. One that is in the middle of something is no such place: no snapshot has what it has seen. */
export function parseEnd(text: string): LogCursor {
  const cursor = parseCursor(text);
  if (cursor.target === null) return cursor;
  throw new WaybillError('invalid_request', 'The event log can be read up to the end of a page with atEnd only.');
}

/**
 * Whether more is visible in one snapshot than in the other. Of one database all snapshots can be compared: whatever is
 * visible stays so, and no transaction that began later is below `xmax`. So the higher `xmax` is the later one, and where
 * both have the same the one in which fewer transactions were still running.
 */
export function isLater(one: string, other: string): boolean {
  const [a, b] = [parseSnapshot(one), parseSnapshot(other)];
  return a.xmax === b.xmax ? a.running.length < b.running.length : a.xmax > b.xmax;
}

function parseSnapshot(snapshot: string): { xmin: bigint; xmax: bigint; running: bigint[] } {
  const [xmin, xmax, running] = snapshot.split(':');
  return { xmin: BigInt(xmin!), xmax: BigInt(xmax!), running: running === '' ? [] : running!.split(',').map(BigInt) };
}

/** The transactions that had begun and not ended. */
export const runningIn = (snapshot: string): string[] => parseSnapshot(snapshot).running.map(String);

/** What PostgreSQL takes for one. */
function isSnapshot(text: string): boolean {
  if (!SNAPSHOT.test(text)) return false;
  const { xmin, xmax, running } = parseSnapshot(text);
  const isAscending = running.every((xid, index) => xid >= (running[index - 1] ?? xmin) && xid < xmax);
  return xmin > 0n && xmin <= xmax && isAscending;
}

const SNAPSHOT = /^\d{1,19}:\d{1,19}:(?:\d{1,19}(?:,\d{1,19})*)?$/;
