import { edgeKind } from '../edge-kinds.ts';
import { workflowCells } from '../workflow-rows.ts';
import { admit, isUnclaimed, noteLimit, type Shift } from './limits.ts';
import type { GroupMessage, Input, InsertReply } from './protocol.ts';
import { AT, type Row } from './rows.ts';
import type { Session } from './session.ts';
import { takeKey } from './unique.ts';

type Entry = NonNullable<GroupMessage['workflow']>;

const NOTHING_ADMITTED: InsertReply = { status: 'inserted', admitted: [], others: [] };

/** Carries the answer out of the savepoint that it ends. */
class Conflict extends Error {
  readonly reply: InsertReply;
  constructor(reply: InsertReply) {
    super('conflict');
    this.reply = reply;
  }
}

export function insert(session: Session, { groups, at, now }: Input<'insert'>): InsertReply[] {
  return groups.map((group) => insertGroup(session, group, at, now));
}

/** Stores a group as a whole or not at all. */
export function insertGroup(session: Session, group: GroupMessage, at: number, now: number): InsertReply {
  // A single job is all or nothing by itself.
  if (group.rows.length === 1 && group.edges.length === 0 && !group.uniques && !group.workflow) {
    return store(session, group, at, now);
  }
  try {
    return session.attempt(() => {
      const reply = store(session, group, at, now);
      if (reply.status !== 'inserted') throw new Conflict(reply);
      return reply;
    });
  } catch (error) {
    if (error instanceof Conflict) return error.reply;
    throw error;
  }
}

function store(session: Session, group: GroupMessage, at: number, now: number): InsertReply {
  const { rows, events, edges, workflow } = group;
  const tenant = rows[0]?.[AT.tenant] ?? '';
  const admitted = new Map<string, Row>();
  const limits = new Map<string, Shift>();
  for (const [index, row] of rows.entries()) {
    const refusal = makeRoom(session, group, index, at, now, admitted) ?? storeRow(session, group, index, now);
    if (refusal) return refusal;
    const key = row[AT.limitKey];
    if (key !== null) limits.set(key, withHolder(limits.get(key), row));
  }
  const named = workflow ? rows.findIndex((row) => !takeName(session, row)) : -1;
  if (named >= 0) return { status: 'named', index: named };
  // Last of all, so that a repetition is told from a newcomer also after the workflow has ended.
  if (workflow && !enterWorkflow(session, tenant, workflow, rows.length)) return { status: 'closed' };
  for (const [position, edge] of edges.entries()) {
    session.sql['insert-edge'].run(tenant, edge.parent, edge.child, position, edgeKind(edge));
  }
  session.log(events, at);
  for (const [key, shift] of limits) {
    for (const row of admit(session, tenant, key, now, shift)) admitted.set(row[AT.id], row);
  }
  if (admitted.size === 0) return NOTHING_ADMITTED;
  const own = rows.flatMap((row, index) => (admitted.delete(row[AT.id]) ? [index] : []));
  return { status: 'inserted', admitted: own, others: [...admitted.values()] };
}

/** Takes over the row's unique key, before the row goes in: a slot that its owner leaves is others' first. */
function makeRoom(
  session: Session,
  group: GroupMessage,
  index: number,
  at: number,
  now: number,
  admitted: Map<string, Row>,
): InsertReply | null {
  const { rows, uniques } = group;
  const row = rows[index]!;
  const unique = uniques?.[index];
  if (!unique) return null;
  const taken = takeKey(session, row, unique, at, now);
  for (const other of taken.admitted) admitted.set(other[AT.id], other);
  if (taken.by === null) return null;
  return existing(session, rows, index) ?? repeated(session, row, index) ?? allTaken(session, group, index, at, now);
}

/** Every job from the given one on whose key another job has. What is written on the way is rolled back with the group. */
function allTaken(
  session: Session,
  { rows, uniques }: GroupMessage,
  from: number,
  at: number,
  now: number,
): InsertReply {
  const own = new Set(rows.map((row) => row[AT.id]));
  const keys: { index: number; row: Row }[] = [];
  for (const [index, row] of rows.entries()) {
    const unique = index < from ? undefined : uniques?.[index];
    const by = unique && takeKey(session, row, unique, at, now).by;
    if (by && (index === from || !own.has(by[AT.id]))) keys.push({ index, row: by });
  }
  return { status: 'taken', keys };
}

function storeRow(session: Session, { rows, rules }: GroupMessage, index: number, now: number): InsertReply | null {
  const row = rows[index]!;
  if (session.sql['insert-job'].run(...row).changes === 0) {
    const refusal = existing(session, rows, index) ?? repeated(session, row, index);
    if (refusal === null) throw new Error(`Job ${row[AT.id]} was refused without a conflict.`);
    return refusal;
  }
  session.noteQueue(row[AT.tenant], row[AT.queue], now);
  if (row[AT.rank] !== null) session.wake(row[AT.queue]);
  const key = row[AT.limitKey];
  if (key !== null) noteLimit(session, row[AT.tenant], key, rules?.[index] ?? null);
  return null;
}

/** The first of the rows, from the given one on, whose id is there already; also by another row of the group. */
function existing({ sql }: Session, rows: readonly Row[], from: number): InsertReply | null {
  const seen = new Map<string, Row>();
  for (const [index, row] of rows.entries()) {
    if (index < from) continue;
    const found = sql['job-by-id'].get(row[AT.tenant], row[AT.id]) ?? seen.get(row[AT.id]);
    if (found) return { status: 'exists', index, row: found };
    seen.set(row[AT.id], row);
  }
  return null;
}

function repeated({ sql }: Session, row: Row, index: number): InsertReply | null {
  const found = sql['job-by-idempotency-key'].get(row[AT.tenant], row[AT.idempotencyKey]);
  return found ? { status: 'repeated', index, row: found } : null;
}

/** False when another node of the workflow has the name of this one. */
function takeName({ sql }: Session, row: Row): boolean {
  const [workflowId, node] = [row[AT.workflowId], row[AT.node]];
  if (workflowId === null || node === null) return true;
  return sql['workflow-name'].run(row[AT.tenant], workflowId, node).changes !== 0;
}

/** Makes the workflow of a group, or counts further nodes of one; false when that one does not run. */
function enterWorkflow({ sql }: Session, tenant: string, workflow: Entry, nodes: number): boolean {
  if ('join' in workflow) return sql['workflow-join'].run(tenant, workflow.join, nodes).changes !== 0;
  sql['workflow-create'].run(...workflowCells(workflow.create));
  return true;
}

/** A job arrives parked; should one bring a slot with it, the counts are true all the same. */
function withHolder({ holders, unclaimed }: Shift = { holders: 0, unclaimed: 0 }, row: Row): Shift {
  const holds = row[AT.holdsSlot];
  return { holders: holders + holds, unclaimed: unclaimed + isUnclaimed(row[AT.state], holds) };
}
