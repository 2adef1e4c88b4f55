import { fenceAdmits } from '../../job/progress.ts';
import { type AppendAnswer, type AppendRequest, BEFORE_ALL, type JournalPage, type JournalQuery } from '../journal.ts';
import { type JournalState, keyOf, type MemoryState } from './state.ts';

export function appendJournal(state: MemoryState, requests: readonly AppendRequest[]): AppendAnswer[] {
  return requests.map(({ tenant, id, by, batch, weight: added, atMost, now }) => {
    const job = state.get(tenant, id);
    if (!job || !fenceAdmits(job, by)) return { status: 'lost' };
    const { run } = job;
    const rows = rowsOf(state, tenant, id);
    const newest = rows.at(-1);
    const head = newest?.run === run ? newest.last : BEFORE_ALL;
    if (batch.first <= head) return { status: 'behind', run, head };
    const weight = (newest?.weight ?? 0) + added;
    if (atMost !== undefined && weight > atMost) return { status: 'full', run, head, weight: weight - added };
    rows.push({ ...batch, run, after: head, storedAt: now, weight });
    state.journals.set(keyOf(tenant, id), rows);
    state.noteGrown(id);
    return { status: 'stored', run, weight };
  });
}

export function readJournal(state: MemoryState, query: JournalQuery): JournalPage {
  const { tenant, id, run, after, fromAt, types, limit, maxBytes } = query;
  const matching = rowsOf(state, tenant, id).filter(
    (row) =>
      (run === undefined || row.run === run) &&
      (after === undefined || row.run > after.run || (row.run === after.run && row.last > after.sequence)) &&
      (fromAt === undefined || row.lastAt >= fromAt) &&
      (types === undefined || row.types.some((type) => types.includes(type))),
  );
  let bytes = 0;
  let taken = 0;
  for (const { body } of matching.slice(0, limit)) {
    bytes += body.length;
    if (taken > 0 && bytes > maxBytes) break;
    taken += 1;
  }
  const batches = matching.slice(0, taken).map(({ weight: _, ...batch }) => batch);
  return { batches, more: taken < matching.length };
}

/** Answers how many batches were removed, and whether more are left. */
export function pruneJournals(state: MemoryState, before: number, limit: number): { removed: number; more: boolean } {
  const old = [...state.journals].flatMap(([key, rows]) =>
    rows.filter((row) => row.storedAt < before && !isNeeded(state, key, row)).map((row) => ({ key, row })),
  );
  const removed = old.slice(0, limit);
  for (const { key, row } of removed) {
    const left = state.journals.get(key)!.filter((one) => one !== row);
    if (left.length > 0) state.journals.set(key, left);
    else state.journals.delete(key);
  }
  return { removed: removed.length, more: old.length > removed.length };
}

/** The newest batch of an active run tells how far the run has come. */
const isNeeded = (state: MemoryState, key: string, row: JournalState): boolean =>
  state.jobs.get(key)?.state === 'active' && row === state.journals.get(key)?.at(-1);

const rowsOf = (state: MemoryState, tenant: string, id: string): JournalState[] =>
  state.journals.get(keyOf(tenant, id)) ?? [];
