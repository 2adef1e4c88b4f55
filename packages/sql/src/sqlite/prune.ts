import type { PruneAnswer } from '@waybill/core';
import { EDGE_KINDS } from '../edge-kinds.ts';
import type { Input } from './protocol.ts';
import { expiredBefore, pruneRecords } from './records.ts';
import type { Session } from './session.ts';

export function prune(session: Session, request: Input<'prune'>): PruneAnswer {
  const { finishedBefore, deadBefore, eventsBefore, limit, now } = request;
  const finished = pruneJobs(session, 0, finishedBefore, limit);
  const jobs = finished + pruneJobs(session, 1, deadBefore, limit - finished);
  const workflows = pruneWorkflows(session, finishedBefore, limit - jobs);
  const records = pruneRecords(session, limit - jobs - workflows, now);
  const events = pruneEvents(session, eventsBefore, limit - jobs - workflows - records);
  const left = session.sql['prune-left'].get<[number]>(finishedBefore, deadBefore, eventsBefore, expiredBefore(now))!;
  return { jobs, events, more: left[0] === 1 };
}

function pruneJobs({ sql }: Session, dead: 0 | 1, before: number, limit: number): number {
  const removed = sql['prune-jobs'].all<[string, string, string | null, string | null]>(dead, before, limit);
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
function pruneEvents({ sql }: Session, before: number, limit: number): number {
  let removed = 0;
  let lastWhole: number | null = null;
  for (const [segment, first, count] of sql['segments-old'].all<[number, number, number]>(before, limit)) {
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
