import type { Writer } from '../commit/writer.ts';
import type { SubjectEvent } from '../events/subject-event.ts';
import { workflowCompleted, workflowFailed } from '../events/told.ts';
import type { Job } from '../job/job.ts';
import type { Revision } from '../job/node-rules.ts';
import type { Json, JsonObject } from '../json.ts';
import type { NewJob } from '../store/insert.ts';
import type { Store } from '../store/store.ts';
import type { WorkflowReason, WorkflowRecord } from '../store/workflow-record.ts';
import type { Callback } from './shape.ts';

/** Results of more nodes than this are not handed to callbacks; they can be read by the workflow's id. */
const MAX_RESULTS = 100;
const MAX_RESULT_BYTES = 64 * 1024;

/** Makes the job of a callback; it is stored by whoever ends the workflow. */
export type MakeJob = (request: unknown, tenant: string) => NewJob;

/** What the engine makes by itself, without a producer. */
export interface MakeNodes {
  callback: MakeJob;
  /** A job of a map. */
  item(map: Job, item: { node: string; item: Json; notBefore?: number }): NewJob;
  /** The next iteration of a reviewed node. */
  revision(gate: Job, revision: { node: string; revision: Revision }): NewJob;
  /** What the log says of a map or a gate that completes. */
  step(map: Job): Promise<SubjectEvent | null>;
}

export interface AdvanceParts {
  store: Store;
  writer: Writer;
  make: MakeNodes;
}

/**
 * Ends a workflow that has no unfinished node. The last node to finish always finds that out: it looks after its own
 * end was written. The compare-and-set of the state lets one of several lookers end it, with its callbacks. Nodes that
 * joined after the record was read keep it open: they were not looked at, and the last of them looks again.
 */
export async function endOf({ store, writer, make }: AdvanceParts, record: WorkflowRecord): Promise<void> {
  const { tenant, id } = record;
  if (await store.workflows.hasUnfinished(tenant, id)) return;
  const failures = await store.count({ tenant, workflowId: id, states: ['discarded', 'cancelled'] }, { atMost: 1 });
  const to = failures > 0 ? 'failed' : 'completed';
  const jobs = await callbackJobs(store, record, to, make.callback);
  const now = store.clock.now();
  // It may have been too late only since the record was read.
  const reason = to === 'failed' && record.timeoutMs !== null ? await reasonOf(store, record) : null;
  const told =
    to === 'completed'
      ? workflowCompleted(record, now)
      : workflowFailed({ ...record, reason }, await failedNode(store, record), now);
  await writer.move({ tenant, id, from: 'running', to, total: record.total, reason, now, jobs, told });
}

const reasonOf = async (store: Store, { tenant, id }: WorkflowRecord): Promise<WorkflowReason | null> =>
  (await store.workflows.get(tenant, id))?.reason ?? null;

/** One that failed by itself, or else one that was cancelled. */
async function failedNode(store: Store, { tenant, id: workflowId }: WorkflowRecord): Promise<Job | undefined> {
  for (const state of ['discarded', 'cancelled'] as const) {
    const { items } = await store.list({ filter: { tenant, workflowId, states: [state] }, limit: 1 });
    if (items[0]) return items[0];
  }
  return undefined;
}

async function callbackJobs(
  store: Store,
  record: WorkflowRecord,
  to: 'completed' | 'failed',
  make: MakeJob,
): Promise<NewJob[]> {
  const due: Callback[] = ['on_complete', to === 'completed' ? 'on_success' : 'on_failure'];
  const requests = due.flatMap((name) =>
    record.callbacks[name] === undefined ? [] : [record.callbacks[name] as JsonObject],
  );
  if (requests.length === 0) return [];
  const told = {
    workflow_id: record.id,
    workflow_state: to,
    ...(record.name === null ? {} : { workflow_name: record.name }),
  };
  const results = await resultsOf(store, record);
  return requests.map((request) => {
    const meta = { ...(request['meta'] as JsonObject | undefined), ...told };
    const options = { ...(request['options'] as JsonObject | undefined), ...(results && { parent_results: results }) };
    return make({ ...request, meta, options }, record.tenant);
  });
}

/** In the order of the nodes' names, which is the order in which they were given. */
async function resultsOf(store: Store, { tenant, id: workflowId, total }: WorkflowRecord): Promise<Json[] | null> {
  if (total > MAX_RESULTS) return null;
  const { items } = await store.list({ filter: { tenant, workflowId }, limit: MAX_RESULTS });
  const nodes = items.sort((a, b) => a.seq - b.seq);
  const results = nodes.map(({ state, result }) => (state === 'completed' ? result : null));
  return JSON.stringify(results).length <= MAX_RESULT_BYTES ? results : null;
}
