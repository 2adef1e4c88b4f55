import { changesOf } from '../commit/row-change.ts';
import { isGate } from '../job/gate.ts';
import { isFinished, type Job } from '../job/job.ts';
import type { Change } from '../store/apply.ts';
import type { Store } from '../store/store.ts';
import type { WorkflowRecord } from '../store/workflow-record.ts';
import { type AdvanceParts, endOf } from './end.ts';
import { followRules } from './follow-rules.ts';

/** Pending rows cancelled in one go. */
const SLICE = 500;

/**
 * Looks at the dependents of finished nodes, and at nodes that joined late: dispatches what waits for nothing more,
 * cancels what waits in vain, and ends a workflow that has nothing left to do. Every step may be repeated, by anybody;
 * the mark that brought the rows here is cleared last.
 */
export async function advance(parts: AdvanceParts, jobs: readonly Job[]): Promise<void> {
  const { store, writer } = parts;
  for (const [tenant, own] of Map.groupBy(jobs, ({ tenant }) => tenant)) {
    const records = await readRecords(store, tenant, own);
    const met = await metNodes(store, tenant, own, records);
    const [ruled, plain] = [met.filter(({ spec }) => spec.rules), met.filter(({ spec }) => !spec.rules)];
    await writer.apply([
      ...changesOf(store, plain, { do: 'activate' }),
      ...(await cancellations(store, tenant, own, records)),
    ]);
    if (ruled.length > 0) await followRules(parts, tenant, ruled, records);
    for (const record of records.values()) {
      const isOver = ({ workflowId, state }: Job) => workflowId === record.id && isFinished(state);
      if (record.state === 'running' && own.some(isOver)) await endOf(parts, record);
    }
    await writer.apply(changesOf(store, own, { do: 'advanced' }));
  }
}

async function readRecords(store: Store, tenant: string, jobs: readonly Job[]): Promise<Map<string, WorkflowRecord>> {
  const ids = [...new Set(jobs.map(({ workflowId }) => workflowId).filter((id) => id !== null))];
  const found = await Promise.all(ids.map((id) => store.workflows.get(tenant, id)));
  return new Map(found.filter((record) => record !== null).map((record) => [record.id, record]));
}

/** Whether further nodes of its workflow start. */
function isRunning(records: Map<string, WorkflowRecord>, { workflowId }: Job): boolean {
  const record = workflowId === null ? undefined : records.get(workflowId);
  return record?.state === 'running' && record.reason === null;
}

/** Whether it is for the workflow to start this job. A node without parents that is pending is its producer's to start. */
export async function waitsForParents(store: Store, { tenant, id, workflowId }: Job): Promise<boolean> {
  if (workflowId === null) return false;
  const [parents] = await store.workflows.parents({ tenant, ids: [id] });
  return parents!.length > 0;
}

/** Born pending, and nothing has happened to it since: being looked at leaves no event. */
const isHeld = ({ version }: Job): boolean => version === 1;

/** Children whose parents have all completed. */
async function metNodes(
  store: Store,
  tenant: string,
  jobs: readonly Job[],
  records: Map<string, WorkflowRecord>,
): Promise<Job[]> {
  const completed = jobs.filter((job) => job.state === 'completed' && isRunning(records, job)).map(({ id }) => id);
  const joined = jobs.filter((job) => job.state === 'pending' && isRunning(records, job));
  const families =
    joined.length === 0 ? [] : await store.workflows.parents({ tenant, ids: joined.map(({ id }) => id) });
  const parents = families.flat();
  const alone = joined.filter((job, index) => families[index]!.length === 0 && (!isHeld(job) || isGate(job)));
  const ids = [...new Set([...completed, ...parents.filter(({ state }) => state === 'completed').map(({ id }) => id)])];
  const met = ids.length === 0 ? [] : await store.workflows.meet({ tenant, ids });
  return [...alone, ...met];
}

/** Children that wait in vain: a parent has failed, or nothing shall start any more. */
async function cancellations(
  store: Store,
  tenant: string,
  jobs: readonly Job[],
  records: Map<string, WorkflowRecord>,
): Promise<Change[]> {
  const doomed = new Map<string, Job>();
  const failed = jobs.filter(({ state }) => state === 'discarded' || state === 'cancelled');
  const stopped = new Set(
    failed.filter((job) => stops(records.get(job.workflowId!))).map(({ workflowId }) => workflowId!),
  );
  for (const record of records.values())
    if (record.state === 'cancelled' || record.reason !== null) stopped.add(record.id);
  for (const workflowId of stopped) {
    const filter = { tenant, workflowId, states: ['pending', 'scheduled', 'available', 'retryable'] } as const;
    for (const job of (await store.list({ filter, limit: SLICE })).items) doomed.set(job.id, job);
  }
  const ids = failed.map(({ id }) => id);
  if (ids.length > 0) for (const job of await store.workflows.waiting({ tenant, ids })) doomed.set(job.id, job);
  for (const job of await orphans(store, tenant, jobs)) doomed.set(job.id, job);
  return changesOf(store, [...doomed.values()], {
    do: 'cancel',
    by: 'workflow',
    reason: 'a node before it did not complete',
  });
}

const stops = (record: WorkflowRecord | undefined): boolean => record?.failurePolicy === 'stop';

/** Nodes that joined after a parent of theirs had failed. */
async function orphans(store: Store, tenant: string, jobs: readonly Job[]): Promise<Job[]> {
  const joined = jobs.filter(({ state }) => state === 'pending');
  if (joined.length === 0) return [];
  const families = await store.workflows.parents({ tenant, ids: joined.map(({ id }) => id) });
  return joined.filter((_, index) =>
    families[index]!.some(({ state }) => state === 'discarded' || state === 'cancelled'),
  );
}
