import {
  type Clock,
  isObject,
  type Json,
  type Waybill,
  WaybillError,
  type WorkflowInfo,
  type WorkflowNode,
} from '@waybill/core';
import type { WaitOptions } from './wait.ts';

/** A workflow as `workflow()` and `workflows.create` answer it. */
export type StartedWorkflow = WorkflowInfo;

/** A workflow that has ended: its state says how. */
export interface EndedWorkflow extends WorkflowInfo {
  /** What its nodes have returned, by their names; null where a node did not complete. Jobs of maps are in the list of theirs. */
  results: Record<string, Json | null>;
}

export const isStartedWorkflow = (given: unknown): given is StartedWorkflow =>
  isObject(given) && 'failurePolicy' in given && typeof given['id'] === 'string';

const ENDS = ['workflow.completed', 'workflow.failed', 'workflow.cancelled'] as const;
const PAGE = 1_000;

type WaitPorts = Pick<Waybill, 'events' | 'workflows'>;

/** Told by the event that ends it; one that has ended before is found when it is looked at. */
export async function untilEnded(
  { events, workflows }: WaitPorts,
  clock: Clock,
  { id, tenant: own }: StartedWorkflow,
  { tenant = own, timeoutMs, signal }: WaitOptions,
): Promise<EndedWorkflow> {
  const context = { tenant };
  const stop = new AbortController();
  const abort = () => stop.abort();
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  if (timeoutMs !== undefined) void clock.sleep(timeoutMs, stop.signal).then(abort);
  try {
    const after = await events.end();
    let info = await workflows.get(id, context);
    if (info.state === 'running' && !stop.signal.aborted) {
      await ended(events, { id, tenant, after, signal: stop.signal });
      info = await workflows.get(id, context);
    }
    if (info.state !== 'running') return { ...info, results: await resultsOf(workflows, id, tenant) };
    if (signal?.aborted) throw signal.reason;
    throw new WaybillError('timeout', `Workflow ${id} has not ended within ${timeoutMs} ms.`, {
      details: { workflow_id: id, state: info.state },
      hint: 'The workflow goes on; wait for it again.',
    });
  } finally {
    signal?.removeEventListener('abort', abort);
    stop.abort();
  }
}

interface Watched {
  id: string;
  tenant: string;
  after: string;
  signal: AbortSignal;
}

/** Until the log tells of its end, or the wait is over. */
async function ended(events: WaitPorts['events'], { id, tenant, after, signal }: Watched): Promise<void> {
  const filter = { tenant, types: [...ENDS] };
  try {
    for await (const event of events.follow({ filter, after, signal })) if (event.subject === id) return;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function resultsOf(
  { nodes }: Waybill['workflows'],
  id: string,
  tenant: string,
): Promise<EndedWorkflow['results']> {
  const found: WorkflowNode[] = [];
  let cursor: string | undefined;
  do {
    const page = await nodes(id, { tenant, limit: PAGE, ...(cursor !== undefined && { cursor }) });
    found.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  const named = found.filter(({ node }) => node !== null && !node.endsWith(']'));
  return Object.fromEntries(
    named.reverse().map(({ node, state, result }) => [node!, state === 'completed' ? result : null]),
  );
}
