import type { Job } from '../../job/job.ts';
import {
  type Edge,
  type InsertAnswer,
  type InsertGroup,
  type NewJob,
  type TakenKey,
  takenAnswer,
  type UniqueClaim,
} from '../insert.ts';
import { applyOne, judge } from './apply.ts';
import { admit, setRule, useLimit } from './slots.ts';
import { keyOf, type MemoryState } from './state.ts';

export const insert = (state: MemoryState, groups: readonly InsertGroup[]): InsertAnswer[] =>
  groups.map((group) => insertGroup(state, group));

export function insertGroup(state: MemoryState, group: InsertGroup): InsertAnswer {
  // Looked for before anything is written; that is all the atomicity a group needs here.
  const refusal =
    findExisting(state, group) ?? findConflict(state, group) ?? findNamed(state, group) ?? findClosed(state, group);
  if (refusal) return refusal;

  const tenant = group.jobs[0]?.job.tenant ?? '';
  const admitted: Job[] = [];
  for (const made of group.jobs) admitted.push(...place(state, made));
  for (const edge of group.edges ?? []) {
    if (state.edges.some((other) => isSame(other, { ...edge, tenant }))) continue;
    // A parent that has been advanced already will not be looked at again.
    state.edges.push({
      ...edge,
      tenant,
      met: edge.join === 'out_of_join' || state.get(tenant, edge.parent)?.state === 'completed',
    });
  }
  if (group.workflow) enter(state, tenant, group.workflow, group.jobs.length);
  for (const { job } of group.jobs) {
    if (job.limitKey !== null) admitted.push(...admit(state, job.tenant, job.limitKey, state.clock.now()));
  }
  const own = new Set(group.jobs.map(({ job }) => job.id));
  return {
    status: 'inserted',
    jobs: group.jobs.map(({ job }) => state.get(job.tenant, job.id)!),
    admitted: admitted.filter(({ id }) => !own.has(id)),
  };
}

const isSame = (a: Edge & { tenant: string }, b: Edge & { tenant: string }): boolean =>
  a.tenant === b.tenant && a.parent === b.parent && a.child === b.child;

/** Answers those who got the slot of the owner that was replaced. */
function place(state: MemoryState, { job, events, limit, unique }: NewJob): Job[] {
  const replaced = unique?.replace && applyOne(state, unique.replace);
  if (unique) state.owners.set(keyOf(job.tenant, unique.key), job.id);
  useLimit(state, job);
  if (limit && job.limitKey !== null) setRule(state, job.tenant, job.limitKey, limit);
  state.write(job, events);
  return replaced?.status === 'applied' ? replaced.admitted : [];
}

function enter(
  state: MemoryState,
  tenant: string,
  workflow: NonNullable<InsertGroup['workflow']>,
  nodes: number,
): void {
  const record = 'create' in workflow ? workflow.create : state.workflows.get(keyOf(tenant, workflow.join))!;
  const total = 'create' in workflow ? record.total : record.total + nodes;
  state.workflows.set(keyOf(record.tenant, record.id), { ...record, total });
}

/** First of all: whoever repeats a call shall learn that it was done, whatever has become of keys meanwhile. */
function findExisting(state: MemoryState, { jobs }: InsertGroup): InsertAnswer | undefined {
  for (const [index, { job }] of jobs.entries()) {
    const sameId = state.get(job.tenant, job.id) ?? jobs.slice(0, index).find((other) => other.job.id === job.id)?.job;
    if (sameId) return { status: 'exists', index, job: sameId };
  }
  return undefined;
}

function findConflict(state: MemoryState, { jobs }: InsertGroup): InsertAnswer | undefined {
  /** Owners that this very group would make. */
  const owners = new Map<string, Job>();
  const taken: TakenKey[] = [];
  for (const [index, { job, unique }] of jobs.entries()) {
    const earlier = jobs.slice(0, index).map((other) => other.job);
    const sameKey = job.idempotencyKey !== null && [...state.rows(), ...earlier].find((other) => repeats(other, job));
    if (sameKey && taken.length === 0) return { status: 'repeated', index, job: sameKey };
    if (!unique) continue;
    const sibling = owners.get(unique.key);
    const owner = sibling ?? state.ownerOf(job.tenant, unique.key);
    // When the expected owner's row is gone, nobody is left who could be in the way.
    if (!owner || mayFollow(state, owner, unique)) owners.set(unique.key, job);
    else if (!sibling || taken.length === 0) taken.push({ index, job: owner });
  }
  return takenAnswer(taken);
}

const repeats = (other: Job, job: Job): boolean =>
  other.tenant === job.tenant && other.idempotencyKey === job.idempotencyKey;

const mayFollow = (state: MemoryState, owner: Job, { owner: expected, replace }: UniqueClaim): boolean =>
  expected?.id === owner.id &&
  expected.version === owner.version &&
  (replace === undefined || judge(state, replace) === 'fits');

function findNamed(state: MemoryState, { jobs, workflow }: InsertGroup): InsertAnswer | undefined {
  if (!workflow) return undefined;
  const nameOf = ({ tenant, workflowId, node }: Job) => JSON.stringify([tenant, workflowId, node]);
  const names = new Set(state.rows().flatMap((job) => (job.node === null ? [] : [nameOf(job)])));
  const index = jobs.findIndex(({ job }) => job.node !== null && names.size === names.add(nameOf(job)).size);
  return index < 0 ? undefined : { status: 'named', index };
}

/** Last of all, so that a repetition is told from a newcomer also after the workflow has ended. */
function findClosed(state: MemoryState, { jobs, workflow }: InsertGroup): InsertAnswer | undefined {
  if (!workflow || 'create' in workflow) return undefined;
  const record = state.workflows.get(keyOf(jobs[0]?.job.tenant ?? '', workflow.join));
  return record?.state === 'running' ? undefined : { status: 'closed' };
}
