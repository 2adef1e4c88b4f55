import type { AppendAnswer, RunFence } from '@waybill/core';
import type { BatchCells, Input, Output } from './protocol.ts';
import type { Cell } from './rows.ts';
import type { Session } from './session.ts';

/** Removing them waits for the disk, and everything else waits meanwhile. */
const MOST_REMOVED = 200;

export function appendJournal(session: Session, messages: Input<'appendJournal'>): AppendAnswer[] {
  return messages.map(({ tenant, id, by, cells, types, body }) => {
    const fence = [tenant, id, ...fenceOf(by)];
    const stored = session.sql['journal-append'].get<[number, number]>(...fence, ...cells, types, body);
    if (stored === undefined) return refusal(session, fence, cells[0]);
    session.noteGrown(id);
    const [run, weight] = stored;
    return { status: 'stored', run, weight };
  });
}

const fenceOf = (by: RunFence): [run: Cell, claimId: Cell, workerId: Cell] =>
  by === 'anyone' ? [null, null, null] : 'workerId' in by ? [null, null, by.workerId] : [by.run, by.claimId, null];

/** Asked only where nothing was stored: the transaction keeps what the statement has seen as it was. */
function refusal({ sql }: Session, fence: readonly Cell[], first: number): AppendAnswer {
  const found = sql['journal-head'].get<[number, number, number]>(...fence);
  if (found === undefined) return { status: 'lost' };
  const [run, head, weight] = found;
  return first <= head ? { status: 'behind', run, head } : { status: 'full', run, head, weight };
}

export function readJournal({ sql }: Session, query: Input<'readJournal'>): Output<'readJournal'> {
  const { tenant, id, run, limit, maxBytes } = query;
  const after = query.after ?? { run: 0, sequence: -1 };
  if (run !== undefined && after.run > run) return { rows: [], more: false };
  const place = run === undefined || after.run === run ? after : { run, sequence: -1 };
  const find = sql[run === undefined ? 'journal-find' : 'journal-find-in-run'];
  const types = query.types ? JSON.stringify(query.types) : null;
  const filter = [place.run, place.sequence, query.fromAt ?? null, types];
  // One more than asked for tells whether there are more.
  const found = find.all<[pos: number, bytes: number]>(tenant, id, ...filter, limit + 1);
  const rows: BatchCells[] = [];
  let bytes = 0;
  for (const [pos, size] of found.slice(0, limit)) {
    bytes += size;
    if (rows.length > 0 && bytes > maxBytes) break;
    rows.push(sql['journal-batch'].get<BatchCells>(pos)!);
  }
  return { rows, more: rows.length < found.length };
}

/** One cheap look: most files have no journals, and what is done for them is then not done at all. */
export const hasJournals = ({ sql }: Session): boolean => sql['journal-any'].get<[number, number]>()![0] === 1;

/** All that was said by a job that is no more. */
export function forgetJournal({ sql }: Session, tenant: string, id: string): void {
  sql['journal-forget'].run(tenant, id, Number.MAX_SAFE_INTEGER);
}

/**
 * Removes the journals of the jobs that are pruned next, and answers how many of these jobs can go with them: one whose
 * journal is too long for one transaction waits for the next.
 */
export function pruneJournalsOfJobs({ sql }: Session, dead: 0 | 1, before: number, limit: number): number {
  const jobs = sql['prune-jobs-next'].all<[string, string]>(dead, before, limit);
  let left = MOST_REMOVED;
  const stays = jobs.findIndex(([tenant, id]) => {
    left -= Number(sql['journal-forget'].run(tenant, id, left).changes);
    return left === 0;
  });
  return stays === -1 ? jobs.length : stays;
}

/**
 * Removes old batches, the oldest first. They are found by the time at which they were stored, because positions do not grow with
 * it where a clock was wrong. Those that have to stay are passed over; there are no more of them than active runs.
 */
export function pruneJournals({ sql }: Session, before: number, limit: number): { removed: number; more: boolean } {
  const most = Math.min(limit, MOST_REMOVED);
  let removed = 0;
  for (let after: [storedAt: number, pos: number] = [Number.MIN_SAFE_INTEGER, 0]; ; ) {
    const rows = sql['journal-oldest'].all<[pos: number, storedAt: number, isNeeded: number]>(
      before,
      ...after,
      MOST_REMOVED,
    );
    for (const [pos, storedAt, isNeeded] of rows) {
      after = [storedAt, pos];
      if (isNeeded === 1) continue;
      if (removed === most) return { removed, more: true };
      sql['journal-remove'].run(pos);
      removed += 1;
    }
    if (rows.length < MOST_REMOVED) return { removed, more: false };
  }
}

/** Jobs that have said something since a position; without ids where it may have been any. */
export interface Grown {
  ids?: string[];
  pos: number;
}

const MOST_GROWN = 1_000;

export const lastPosition = ({ sql }: Session): number => sql['journal-any'].get<[number, number]>()![1];

export function grownSince(session: Session, after: number): Grown {
  const rows = session.sql['journal-grown'].all<[number, string]>(after, MOST_GROWN);
  if (rows.length === MOST_GROWN) return { pos: lastPosition(session) };
  return { ids: [...new Set(rows.map(([, job]) => job))], pos: rows.at(-1)?.[0] ?? after };
}
