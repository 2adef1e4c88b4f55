import {
  idRange,
  type JobState,
  type Json,
  type OutcomeKind,
  type ParentResult,
  type WorkflowRecord,
} from '@waybill/core';
import { readCursor, writeCursor } from '../cursor.ts';
import { type WorkflowCells, workflowOf } from '../workflow-rows.ts';
import { insertGroup } from './insert.ts';
import { jobRows } from './job-rows.ts';
import type { Input, Output } from './protocol.ts';
import { AT, type Row } from './rows.ts';
import type { Session } from './session.ts';

export function getWorkflow({ sql }: Session, { tenant, id }: Input<'getWorkflow'>): WorkflowRecord | null {
  const found = sql['workflow-get'].get<WorkflowCells>(tenant, id);
  return found ? workflowOf(found) : null;
}

export function listWorkflows({ sql }: Session, query: Input<'listWorkflows'>): Output<'listWorkflows'> {
  const { tenant, idPrefix, states, limit, cursor } = query;
  const before = cursor === undefined ? null : readCursor(cursor);
  const page = [tenant, before, limit + 1] as const;
  const rows = (): WorkflowCells[] => {
    if (idPrefix !== undefined) {
      const { first, last } = idRange(idPrefix);
      return sql['workflow-list-by-id'].all(...page, first, last, states ? JSON.stringify(states) : null);
    }
    if (!states) return sql['workflow-list'].all(...page);
    return [...new Set(states)].flatMap((state) => sql['workflow-list-in-state'].all<WorkflowCells>(...page, state));
  };
  const found = rows()
    .map(workflowOf)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const items = found.slice(0, limit);
  return found.length > limit ? { items, cursor: writeCursor(items.at(-1)!.id) } : { items };
}

export function meet(session: Session, { tenant, ids }: Input<'meet'>): Row[] {
  const { sql } = session;
  const completed = ids.filter((id) => sql['row-before'].get<[string, number]>(tenant, id)?.[0] === 'completed');
  for (const id of completed) sql['edges-meet'].run(tenant, id);
  const joins = joinsOf(completed.flatMap((id) => sql['joins-free'].all<[string]>(tenant, id)));
  return eachOnce([...completed, ...joins].flatMap((id) => jobRows(sql['children-free'], tenant, id)));
}

export function waiting({ sql }: Session, { tenant, ids }: Input<'waiting'>): Row[] {
  const joins = joinsOf(ids.flatMap((id) => sql['joins-behind'].all<[string]>(tenant, id)));
  return eachOnce([...ids, ...joins].flatMap((id) => jobRows(sql['children-waiting'], tenant, id)));
}

const joinsOf = (found: readonly [string][]): Set<string> => new Set(found.map(([id]) => id));

const eachOnce = (rows: readonly Row[]): Row[] => [...new Map(rows.map((row) => [row[AT.id], row])).values()];

type ParentCells = [
  id: string,
  node: string | null,
  state: JobState,
  outcome: OutcomeKind | null,
  finishedAt: number | null,
  result: string | null,
];

/** A parent that was pruned has nothing left to tell. */
export function parents({ sql }: Session, { tenant, ids }: Input<'parents'>): ParentResult[][] {
  const read = (child: string): ParentResult[] =>
    sql.parents.all<ParentCells>(tenant, child).map(([id, node, state, outcome, finishedAt, result]) => ({
      ...{ id, node, state, outcome, finishedAt },
      result: result === null ? null : (JSON.parse(result) as Json),
    }));
  const ofJoins = new Map<string, ParentResult[]>();
  return ids.map((child) => {
    const own = read(child);
    const join = own.length === 0 ? sql['join-before'].get<[string]>(tenant, child)?.[0] : undefined;
    if (join === undefined) return own;
    const family = ofJoins.get(join) ?? read(join);
    ofJoins.set(join, family);
    return family;
  });
}

export function hasUnfinished({ sql }: Session, { tenant, id }: Input<'hasUnfinished'>): boolean {
  return sql['workflow-unfinished'].get<[number]>(tenant, id)![0] === 1;
}

export function moveWorkflow(session: Session, { request, groups, at }: Input<'moveWorkflow'>): Output<'moveWorkflow'> {
  const { tenant, id, from, to, total = null, now, told } = request;
  const { nextAt = null, reason = null, skips } = request;
  const finishedAt = to === 'running' ? null : now;
  const beside = [nextAt, reason, skips ? 1 : null] as const;
  if (session.sql['workflow-move'].run(tenant, id, from, to, finishedAt, total, ...beside).changes === 0) return null;
  if (told) session.tell(told);
  // Each on its own: one that is there already must not keep the others out.
  return groups.map((group) => insertGroup(session, group, at, now));
}
