import { isFinished, type Job } from '../../job/job.ts';
import { storedBy } from '../insert.ts';
import type { Page } from '../query.ts';
import type { WorkflowRecord } from '../workflow-record.ts';
import type { Family, MoveAnswer, MoveRequest, ParentResult, WorkflowStore } from '../workflows.ts';
import { insertGroup } from './insert.ts';
import { pageOf } from './query.ts';
import { type EdgeState, keyOf, type MemoryState } from './state.ts';

export const getWorkflow = (state: MemoryState, tenant: string, id: string): WorkflowRecord | null =>
  state.workflows.get(keyOf(tenant, id)) ?? null;

export function listWorkflows(state: MemoryState, query: Parameters<WorkflowStore['list']>[0]): Page<WorkflowRecord> {
  const { tenant, idPrefix = '', states } = query;
  const found = [...state.workflows.values()].filter(
    (workflow) =>
      workflow.tenant === tenant && workflow.id.startsWith(idPrefix) && (states?.includes(workflow.state) ?? true),
  );
  return pageOf(found, query);
}

export function meet(state: MemoryState, parents: Family): Job[] {
  const { tenant } = parents;
  const open = edgesFrom(state, parents).filter((edge) => state.get(tenant, edge.parent)?.state === 'completed');
  for (const edge of open) edge.met = true;
  const blocked = new Set(state.edges.filter((edge) => edge.tenant === tenant && !edge.met).map((edge) => edge.child));
  const free = joinsBehind(open).filter((join) => !blocked.has(join));
  const behind = edgesFrom(state, { tenant, ids: free });
  return pendingChildren(state, [...open, ...behind]).filter((child) => !blocked.has(child.id));
}

export function waiting(state: MemoryState, parents: Family): Job[] {
  const edges = edgesFrom(state, parents);
  const behind = edgesFrom(state, { tenant: parents.tenant, ids: joinsBehind(edges) });
  return pendingChildren(state, [...edges, ...behind]);
}

const joinsBehind = (edges: readonly EdgeState[]): string[] =>
  edges.filter(({ join }) => join === 'into_join').map(({ child }) => child);

/** A parent that was pruned has nothing left to tell. */
export const parentsOf = (state: MemoryState, { tenant, ids }: Family): ParentResult[][] =>
  ids.map((child) =>
    edgesInto(state, tenant, child)
      .flatMap((edge) => (edge.join === 'out_of_join' ? edgesInto(state, tenant, edge.parent) : [edge]))
      .map((edge) => state.get(tenant, edge.parent))
      .filter((parent) => parent !== undefined)
      .map(({ id, node, state, outcome, finishedAt, result }) => ({ id, node, state, outcome, finishedAt, result })),
  );

export const hasUnfinished = (state: MemoryState, tenant: string, id: string): boolean =>
  state.rows().some((job) => job.tenant === tenant && job.workflowId === id && !isFinished(job.state));

export function move(state: MemoryState, request: MoveRequest): MoveAnswer {
  const { tenant, id, from, to, total, now, jobs, told } = request;
  const workflow = state.workflows.get(keyOf(tenant, id));
  if (workflow?.state !== from || (total !== undefined && workflow.total !== total)) return { status: 'lost' };
  const { nextAt = null, reason = null, skips = workflow.skips } = request;
  const finishedAt = to === 'running' ? null : now;
  state.workflows.set(keyOf(tenant, id), { ...workflow, state: to, finishedAt, nextAt, reason, skips });
  if (told) state.tellOf(told);
  // Each on its own: one that is there already must not keep the others out.
  const answers = jobs.map((job) => insertGroup(state, { jobs: [job] }));
  return { status: 'moved', ...storedBy(answers) };
}

const edgesInto = (state: MemoryState, tenant: string, child: string): EdgeState[] =>
  state.edges.filter((edge) => edge.tenant === tenant && edge.child === child);

function edgesFrom(state: MemoryState, { tenant, ids }: Family): EdgeState[] {
  const parents = new Set(ids);
  return state.edges.filter((edge) => edge.tenant === tenant && parents.has(edge.parent));
}

function pendingChildren(state: MemoryState, edges: readonly EdgeState[]): Job[] {
  const children = new Map(edges.map(({ tenant, child }) => [child, state.get(tenant, child)]));
  return [...children.values()].filter((child) => child !== undefined).filter((child) => child.state === 'pending');
}
