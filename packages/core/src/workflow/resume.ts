import { Fields } from '../check.ts';
import { closest } from '../closest.ts';
import { wrongState } from '../commit/row-change.ts';
import type { Writer } from '../commit/writer.ts';
import { invalidField, WaybillError } from '../errors.ts';
import { isFinished, type Job, type JobState } from '../job/job.ts';
import type { Command } from '../job/transition.ts';
import type { Json } from '../json.ts';
import type { Store } from '../store/store.ts';
import type { WorkflowRecord } from '../store/workflow-record.ts';
import { isItemOf } from './item-names.ts';
import { MAX_NODES } from './shape.ts';

const SLICE = 500;

/** In this order: a node that is looked at while one before it still counts as failed would be cancelled again. */
const REPAIR = [
  ['discarded', 'replay'],
  ['cancelled', 'reinstate'],
  ['pending', 'look'],
] as const;

interface RepairParts {
  store: Store;
  writer: Writer;
  nodesOf(tenant: string, workflowId: string, states?: readonly JobState[]): AsyncIterable<Job>;
}

type Row = Pick<Job, 'id' | 'node' | 'state'>;

/** What a resumed workflow needs done. Each part may be repeated. */
export interface Repair {
  /** Failed nodes start over; what was cancelled because of them waits again, and is dispatched when all is well. */
  start(): Promise<void>;
  /** Dispatches what waits for nothing more. */
  look(): Promise<void>;
}

/** `names`: only these failed nodes. Refuses what cannot be run again before anything is changed. */
export async function planRepair(
  parts: RepairParts,
  workflow: WorkflowRecord,
  names: readonly string[] | undefined,
): Promise<Repair> {
  return names === undefined ? ofAll(parts, workflow) : ofSome(parts, workflow, names);
}

function ofAll(parts: RepairParts, { tenant, id }: WorkflowRecord): Repair {
  const each = async (steps: typeof REPAIR | readonly [(typeof REPAIR)[2]]): Promise<void> => {
    for (const [state, command] of steps)
      for await (const job of parts.nodesOf(tenant, id, [state]))
        await tolerate(change(parts, tenant, job.id, { do: command }));
  };
  return { start: () => each(REPAIR), look: () => each([REPAIR[2]]) };
}

/**
 * Of what was cancelled only what waits for no other failed node. What stands last comes first, and the failed nodes at the
 * end: a call that broke off in between is repeated, and finds the rest as it was.
 */
async function ofSome(parts: RepairParts, workflow: WorkflowRecord, names: readonly string[]): Promise<Repair> {
  const { tenant, id } = workflow;
  const rows: Row[] = [];
  for await (const { id: job, node, state } of parts.nodesOf(tenant, id)) rows.push({ id: job, node, state });
  // A call before this one broke off, or the workflow was ended while its nodes were repaired.
  const isHalf = workflow.state === 'failed' && rows.some(({ state }) => !isFinished(state));
  const failed = names.flatMap((name) => failedOf(rows, name, { id, isHalf }));
  const behind = await cancelledBehind(parts.store, tenant, rows, failed);
  const each = async (ids: readonly string[], command: Command): Promise<void> => {
    for (const job of ids) await tolerate(change(parts, tenant, job, command));
  };
  const pending = isHalf ? rows.filter(({ state }) => state === 'pending').map((row) => row.id) : [];
  const look = () => each([...pending, ...behind], { do: 'look' });
  return {
    start: async () => {
      await each(behind.toReversed(), { do: 'reinstate' });
      await each(failed, { do: 'replay' });
      await look();
    },
    look,
  };
}

/** Names of nodes that a caller wants to run again. */
export function checkResumed(nodes: unknown): string[] {
  const names = new Fields({ nodes: nodes as Json }).strings('nodes', { max: MAX_NODES }) ?? [];
  if (names.length === 0)
    throw invalidField('nodes', 'must name at least one node. Leave it out to resume all of them.');
  return [...new Set(names)];
}

/** Also of a map or a review: what has failed then is one of its jobs. */
function failedOf(
  rows: readonly Row[],
  name: string,
  { id: workflowId, isHalf }: { id: string; isHalf: boolean },
): string[] {
  const own = rows.filter(({ node }) => node !== null && (node === name || isItemOf(node, name)));
  const failed = own.filter(({ state }) => state === 'discarded');
  if (failed.length > 0) return failed.map(({ id }) => id);
  if (isHalf && own.some(({ state }) => !isFinished(state))) return [];
  const node = own.find((row) => row.node === name) ?? own[0];
  const details = { workflow_id: workflowId, node: name.slice(0, 255) };
  if (node !== undefined)
    throw new WaybillError('conflict', `Node '${name}' is ${node.state}; only a failed node can be run again.`, {
      details: { ...details, state: node.state },
    });
  const known = rows.map((row) => row.node).filter((one) => one !== null);
  const meant = closest(name, known.slice(0, SLICE));
  const hint = meant === undefined ? '' : ` Did you mean '${meant}'?`;
  throw new WaybillError('not_found', `Workflow ${workflowId} has no node '${details.node}'.${hint}`, { details });
}

/** Parents before children. */
async function cancelledBehind(
  store: Store,
  tenant: string,
  rows: readonly Row[],
  failed: readonly string[],
): Promise<string[]> {
  const cancelled = rows.filter(({ state }) => state === 'cancelled').map(({ id }) => id);
  const children = new Map<string, string[]>();
  /** How many failed or cancelled nodes each of them waits for. */
  const open = new Map<string, number>();
  for (let from = 0; from < cancelled.length; from += SLICE) {
    const ids = cancelled.slice(from, from + SLICE);
    const families = await store.workflows.parents({ tenant, ids });
    for (const [index, child] of ids.entries()) {
      const inTheWay = families[index]!.filter(({ state }) => isFinished(state) && state !== 'completed');
      open.set(child, inTheWay.length);
      for (const parent of inTheWay) {
        const known = children.get(parent.id);
        if (known) known.push(child);
        else children.set(parent.id, [child]);
      }
    }
  }
  const again = [...failed];
  for (const parent of again)
    for (const child of children.get(parent) ?? []) {
      const left = open.get(child)! - 1;
      open.set(child, left);
      if (left === 0) again.push(child);
    }
  return again.slice(failed.length);
}

const change = ({ writer }: RepairParts, tenant: string, id: string, command: Command): Promise<Job> =>
  writer.change({ tenant, id }, command, (found) => wrongState(found, 'it is not waiting for repair'));

/** Somebody else changed this one first; the others go on. */
export async function tolerate(change: Promise<Job>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!(error instanceof WaybillError && (error.code === 'conflict' || error.code === 'not_found'))) throw error;
  }
}
