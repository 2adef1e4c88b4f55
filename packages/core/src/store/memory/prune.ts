import type { Job } from '../../job/job.ts';
import { isFinished } from '../../job/job.ts';
import type { PruneAnswer, PruneRequest } from '../prune.ts';
import { pruneJournals } from './journal.ts';
import { pruneUnused } from './prune-unused.ts';
import { pruneRecords } from './records.ts';
import { keyOf, type MemoryState } from './state.ts';

export function prune(state: MemoryState, request: PruneRequest): PruneAnswer {
  const oldJobs = state.rows().filter((job) => isOver(state, job, request));
  const jobs = oldJobs.slice(0, request.limit);
  for (const { tenant, id } of jobs) state.forget(tenant, id);
  // An edge goes with its child only: a child whose parent failed must not start because that parent was forgotten.
  const waits = state.edges.filter((edge) => state.get(edge.tenant, edge.child) !== undefined);
  const joins = new Set(waits.filter(({ join }) => join === 'out_of_join').map((edge) => edge.parent));
  state.edges = state.edges.filter((edge) => waits.includes(edge) || joins.has(edge.child));

  forgetWorkflows(state, request.finishedBefore);
  for (const [key, id] of state.owners) {
    const [tenant] = JSON.parse(key) as [string, string];
    if (state.get(tenant, id) === undefined) state.owners.delete(key);
  }

  const records = pruneRecords(state, request.limit - jobs.length, state.clock.now());

  const oldEvents = state.log.filter(({ event }) => event.at < request.eventsBefore);
  const events = new Set(oldEvents.slice(0, request.limit - jobs.length - records.removed));
  state.log = state.log.filter((entry) => !events.has(entry));
  for (const { position } of events) state.prunedPosition = Math.max(state.prunedPosition, position);

  const left = request.limit - jobs.length - records.removed - events.size;
  const unused = pruneUnused(state, request, left);
  const journals = pruneJournals(state, request.journalBefore ?? Number.NEGATIVE_INFINITY, request.limit);
  const more =
    records.more || unused.more || journals.more || oldJobs.length + oldEvents.length > jobs.length + events.size;
  return { jobs: jobs.length, events: events.size, ...(journals.removed > 0 && { journal: journals.removed }), more };
}

/** A workflow goes after its nodes, and the count of its events with it. */
function forgetWorkflows(state: MemoryState, before: number): void {
  const needed = new Set(state.rows().map(({ tenant, workflowId }) => workflowId && keyOf(tenant, workflowId)));
  for (const [key, { tenant, id, finishedAt }] of state.workflows) {
    if (finishedAt === null || finishedAt >= before || needed.has(key)) continue;
    state.workflows.delete(key);
    state.counts.delete(JSON.stringify({ tenant, kind: 'workflow', subject: id }));
  }
}

/**
 * A finished node whose dependents were not looked at yet counts as living: `nextAt` says so. The time of a node begins with
 * the end of its workflow.
 */
function isOver(state: MemoryState, job: Job, { finishedBefore, deadBefore }: PruneRequest): boolean {
  if (!isFinished(job.state) || job.nextAt !== null) return false;
  const before = job.dead ? deadBefore : finishedBefore;
  const workflow = job.workflowId === null ? undefined : state.workflows.get(keyOf(job.tenant, job.workflowId));
  const isKept = workflow !== undefined && (workflow.finishedAt === null || workflow.finishedAt >= before);
  return job.finishedAt! < before && !isKept;
}
