import { type PruneAnswer, PruneSlice, USE_NOTED_EVERY_MS } from '@waybill/core';
import { EDGE_KINDS } from '../edge-kinds.ts';
import { isOfTheFile } from './failures.ts';
import { hasJournals, pruneJournals, pruneJournalsOfJobs } from './journal.ts';
import type { Input } from './protocol.ts';
import { expiredBefore, pruneRecords } from './records.ts';
import type { Session } from './session.ts';

export function prune(session: Session, request: Input<'prune'>): PruneAnswer {
  const { finishedBefore, deadBefore, eventsBefore, limit, now } = request;
  const slice = new PruneSlice(limit, (error) => !session.isOpen || isOfTheFile(error));
  const take = (part: string, remove: (limit: number) => number): number =>
    slice.take(part, (left) => session.attempt(() => remove(left)));
  const journals = hasJournals(session);
  const finished = take('jobs', (left) => pruneJobs(session, 0, finishedBefore, left, journals));
  const dead = take('dead letters', (left) => pruneJobs(session, 1, deadBefore, left, journals));
  take('workflows', (left) => pruneWorkflows(session, finishedBefore, left));
  take('records', (left) => pruneRecords(session, left, now));
  const events = take('events', (left) => pruneEvents(session, eventsBefore, left, now));
  for (const [part, remove] of Object.entries(unusedParts(session, request))) take(part, remove);
  let isJournalLeft = false;
  const batches = take('journals', (left) => {
    if (!journals || request.journalBefore === undefined) return 0;
    const { removed, more } = pruneJournals(session, request.journalBefore, left);
    isJournalLeft = more;
    return removed;
  });
  const bounds = [finishedBefore, deadBefore, eventsBefore, expiredBefore(now), now] as const;
  const left = session.sql['prune-left'].get<[number]>(...bounds)!;
  const isCutShort = request.unusedBefore !== undefined && slice.isFull;
  const more = left[0] === 1 || isCutShort || isJournalLeft;
  return { jobs: finished + dead, events, ...(batches > 0 && { journal: batches }), more, ...slice.failed };
}

type Remove = (limit: number) => number;

/** What nobody has used for long. */
function unusedParts(session: Session, { unusedBefore, eventsBefore, now }: Input<'prune'>): Record<string, Remove> {
  if (unusedBefore === undefined) return {};
  const { sql } = session;
  const toldBefore = Math.min(unusedBefore, eventsBefore);
  return {
    workers: (limit) => Number(sql['prune-workers'].run(unusedBefore, limit).changes),
    limits: (limit) => {
      sql['note-unused-limits'].run(now, limit);
      return Number(sql['prune-limits'].run(unusedBefore - USE_NOTED_EVERY_MS, limit).changes);
    },
    queues: (limit) => {
      sql['note-unused-queues'].run(now, limit);
      const removed = sql['prune-queues'].all<[string, string]>(unusedBefore, limit);
      for (const [tenant, name] of removed) session.forgetQueue(tenant, name);
      return removed.length;
    },
    counters: (limit) => {
      sql['note-unused-subjects'].run(now, limit);
      return Number(sql['prune-subjects'].run(toldBefore - USE_NOTED_EVERY_MS, toldBefore, limit, now).changes);
    },
  };
}

function pruneJobs(session: Session, dead: 0 | 1, before: number, limit: number, hasJournals: boolean): number {
  const { sql } = session;
  const most = hasJournals ? pruneJournalsOfJobs(session, dead, before, limit) : limit;
  const removed = sql['prune-jobs'].all<[string, string, string | null, string | null]>(dead, before, most);
  for (const [tenant, id, workflowId, uniqueKey] of removed) {
    sql['progress-forget'].run(tenant, id);
    if (workflowId !== null) forgetEdges(sql, tenant, id);
    if (uniqueKey !== null) sql['unique-forget'].run(tenant, uniqueKey, id);
  }
  return removed.length;
}

function forgetEdges(sql: Session['sql'], tenant: string, id: string): void {
  for (const [parent, kind] of sql['forget-edges'].all<[string, number]>(tenant, id))
    if (kind === EDGE_KINDS.out_of_join) sql['forget-join'].run(tenant, parent);
}

function pruneWorkflows({ sql }: Session, before: number, limit: number): number {
  const removed = sql['prune-workflows'].all<[tenant: string, id: string]>(before, limit);
  for (const [tenant, id] of removed) {
    sql['subject-forget'].run(tenant, 'workflow', id);
    sql['workflow-names-forget'].run(tenant, id);
  }
  return removed.length;
}

/** Removes whole segments, and from the last one only what the limit allows. */
function pruneEvents({ sql }: Session, before: number, limit: number, now: number): number {
  let removed = 0;
  let lastWhole: number | null = null;
  for (const [segment, first, count] of sql['segments-old'].all<[number, number, number]>(before, limit, now)) {
    const left = count - first;
    if (removed + left > limit) {
      sql['segment-shorten'].run(segment, limit - removed);
      removed = limit;
      break;
    }
    removed += left;
    lastWhole = segment;
  }
  if (lastWhole !== null) sql['segments-remove'].run(lastWhole);
  return removed;
}
