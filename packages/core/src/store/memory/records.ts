import type { Told } from '../../events/subject-event.ts';
import {
  EXPIRED_KEPT_MS,
  isLive,
  nextVersion,
  type RecordRow,
  type RowPage,
  type RowPut,
  type RowPutAnswer,
  type RowQuery,
} from '../record-table.ts';
import type { RecordKey, RemoveAnswer } from '../records.ts';
import type { MemoryState, RecordState } from './state.ts';

const nameOf = ({ tenant, kind, id }: RecordKey): string => JSON.stringify([tenant, kind, id]);

const hasValue = (row: RecordState): row is RecordRow => row.json !== null;

function liveRow(state: MemoryState, key: RecordKey, now: number): RecordRow | null {
  const row = state.records.get(nameOf(key));
  return row && hasValue(row) && isLive(row, now) ? row : null;
}

export const getRecords = (state: MemoryState, keys: readonly RecordKey[], now: number): (RecordRow | null)[] =>
  keys.map((key) => liveRow(state, key, now));

export function putRecords(state: MemoryState, requests: readonly RowPut[], now: number): RowPutAnswer[] {
  return requests.map(({ expected, told, ...request }) => {
    const live = liveRow(state, request, now);
    if ((live?.version ?? 0) !== expected) return { status: 'conflict', row: live };
    const version = nextVersion(state.records.get(nameOf(request))?.version ?? 0, now);
    const row = { ...request, version, createdAt: live?.createdAt ?? now, updatedAt: now };
    state.records.set(nameOf(request), row);
    if (told) state.tellOf(told);
    return { status: 'stored', row };
  });
}

/** As UTF-8 sorts it, which UTF-16 does not. */
const compareIds = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

export function listRecords(state: MemoryState, { tenant, kind, prefix, after, limit, now }: RowQuery): RowPage {
  const found = [...state.records.values()]
    .filter(hasValue)
    .filter((row) => row.tenant === tenant && row.kind === kind && row.id.startsWith(prefix) && isLive(row, now))
    .filter(({ id }) => after === null || compareIds(id, after) > 0)
    .sort((a, b) => compareIds(a.id, b.id));
  const rows = found.slice(0, limit);
  return { rows, last: found.length > limit ? rows.at(-1)!.id : null };
}

export function removeRecord(
  state: MemoryState,
  key: RecordKey,
  expected: number | null,
  told: Told | null,
  now: number,
): RemoveAnswer {
  const row = liveRow(state, key, now);
  if (row === null) return { status: 'absent' };
  if (expected !== null && row.version !== expected) return { status: 'conflict', version: row.version };
  state.records.set(nameOf(key), { ...row, json: null, expiresAt: now });
  if (told) state.tellOf(told);
  return { status: 'removed' };
}

/** Answers how many rows were removed, and whether more are left. */
export function pruneRecords(state: MemoryState, limit: number, now: number): { removed: number; more: boolean } {
  const before = now - EXPIRED_KEPT_MS;
  const over = [...state.records].filter(([, row]) => !isLive(row, before) && row.version < before);
  const removed = over.slice(0, limit);
  for (const [name] of removed) state.records.delete(name);
  return { removed: removed.length, more: over.length > removed.length };
}
