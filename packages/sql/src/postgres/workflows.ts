import {
  type Family,
  type InsertAnswer,
  idRange,
  JOB_STATES,
  type Job,
  type Json,
  type MoveAnswer,
  type MoveRequest,
  type OutcomeKind,
  type Page,
  type ParentResult,
  storedBy,
  type WorkflowRecord,
  type WorkflowStore,
} from '@waybill/core';
import { readCursor, writeCursor } from '../cursor.ts';
import { EDGE_KINDS } from '../edge-kinds.ts';
import { type WorkflowCells, workflowOf } from '../workflow-rows.ts';
import { plainArray, textArray } from './arrays.ts';
import { type Base, despiteRivals } from './base.ts';
import { insertInside } from './insert-guarded.ts';
import { keyOf } from './keys.ts';
import { asFarAsReadable, isId, type Row } from './rows.ts';
import { tellingOnce } from './subjects.ts';

export const workflowStore = (base: Base): WorkflowStore => ({
  get: (tenant, id) => getWorkflow(base, tenant, id),
  list: (query) => listWorkflows(base, query),
  meet: (parents) => meet(base, parents),
  waiting: async ({ tenant, ids }) =>
    jobsOf(await base.link.query<Row>(base.sql['children-waiting'], [tenant, idsOf(ids)])),
  parents: (children) => parentsOf(base, children),
  hasUnfinished: (tenant, id) => hasUnfinished(base, tenant, id),
  move: (request) => move(base, request),
});

const idsOf = (ids: readonly string[]): string => plainArray(ids.filter(isId)) ?? '{}';

const jobsOf = (rows: readonly Row[]): Job[] => rows.map(asFarAsReadable);

async function getWorkflow({ link, sql }: Base, tenant: string, id: string): Promise<WorkflowRecord | null> {
  const [found] = await link.query<WorkflowCells>(sql['workflow-get'], [tenant, id]);
  return found ? workflowOf(found) : null;
}

async function listWorkflows(
  { link, sql }: Base,
  { tenant, idPrefix, states, limit, cursor }: Parameters<WorkflowStore['list']>[0],
): Promise<Page<WorkflowRecord>> {
  const before = cursor === undefined ? null : readCursor(cursor);
  const page = [tenant, before, limit + 1];
  const wanted = states && (textArray(states) ?? '{}');
  const query = async (): Promise<WorkflowCells[]> => {
    if (idPrefix !== undefined) {
      const { first, last } = idRange(idPrefix);
      return link.query(sql['workflow-list-by-id'], [...page, first, last, wanted ?? null]);
    }
    if (wanted === undefined) return link.query(sql['workflow-list'], page);
    return link.query(sql['workflow-list-in-states'], [...page, wanted]);
  };
  const rows = await query();
  const items = rows.slice(0, limit).map(workflowOf);
  return rows.length > limit ? { items, cursor: writeCursor(items.at(-1)!.id) } : { items };
}

/**
 * Two transactions: of two that meet the last two edges of a child at once, neither sees what the other has not
 * committed, so the children are asked for only when the edges are met for everybody.
 */
async function meet({ link, sql }: Base, { tenant, ids }: Family): Promise<Job[]> {
  const parents = await link.query<[string]>(sql['edges-meet'], [tenant, idsOf(ids)]);
  if (parents.length === 0) return [];
  return jobsOf(await link.query<Row>(sql['children-free'], [tenant, idsOf(parents.map(([id]) => id))]));
}

/** A parent that was pruned has nothing left to tell. */
async function parentsOf({ link, sql }: Base, { tenant, ids }: Family): Promise<ParentResult[][]> {
  const read = async (of: readonly string[]) => {
    const rows = await link.query<ParentCells>(sql.parents, [tenant, idsOf(of)]);
    const joins = new Map(
      rows.flatMap(([child, parent, kind]) => (kind === EDGE_KINDS.out_of_join ? [[child, parent]] : [])),
    );
    const told = rows.filter(([, , kind, , state]) => kind !== EDGE_KINDS.out_of_join && state !== null);
    const byChild = Map.groupBy(told, ([child]) => child);
    return { joins, families: new Map([...byChild].map(([child, family]) => [child, family.map(parentOf)])) };
  };
  const { joins, families } = await read(ids);
  const behind = joins.size === 0 ? families : (await read([...new Set(joins.values())])).families;
  return ids.map((child) => families.get(child) ?? behind.get(joins.get(child) ?? '') ?? []);
}

type ParentCells = [
  child: string,
  parent: string,
  kind: number,
  node: string | null,
  state: number | null,
  outcome: OutcomeKind | null,
  finishedAt: number | null,
  result: string | null,
];

const parentOf = ([, id, , node, state, outcome, finishedAt, result]: ParentCells): ParentResult => ({
  ...{ id, node, state: JOB_STATES[state! - 1]!, outcome, finishedAt },
  result: result === null ? null : (JSON.parse(result) as Json),
});

async function hasUnfinished({ link, sql }: Base, tenant: string, id: string): Promise<boolean> {
  const [row] = await link.query<[boolean]>(sql['workflow-unfinished'], [tenant, id]);
  return row![0];
}

async function move(base: Base, request: MoveRequest): Promise<MoveAnswer> {
  const { tenant, id, from, to, total, now, jobs, told, nextAt = null, reason = null, skips } = request;
  const { bell, knownQueues, sql } = base;
  const inTransaction = tellingOnce(base);
  const made = await despiteRivals(() =>
    inTransaction(async (tx, tell) => {
      const finishedAt = to === 'running' ? null : now;
      const beside = [nextAt, reason, skips ? 1 : null];
      const moved = await tx.query(sql['workflow-move'], [tenant, id, from, to, finishedAt, total ?? null, ...beside]);
      if (moved.length === 0) return null;
      if (told) await tell([told]);
      const answers: InsertAnswer[] = [];
      // Each on its own: one that is there already must not keep the others out.
      for (const job of jobs) answers.push(...(await insertInside(base, tx, [{ jobs: [job] }])));
      return storedBy(answers);
    }),
  );
  if (made === null) return { status: 'lost' };
  for (const { tenant, queue } of made.jobs) knownQueues.add(keyOf(tenant, queue));
  bell.ready(made.jobs);
  return { status: 'moved', ...made };
}
