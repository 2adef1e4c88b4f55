import type { InsertAnswer, InsertGroup } from '../insert.ts';
import { admit } from './slots.ts';
import { keyOf, type MemoryState } from './state.ts';

export const insert = (state: MemoryState, groups: readonly InsertGroup[]): InsertAnswer[] =>
  groups.map((group) => insertGroup(state, group));

function insertGroup(state: MemoryState, group: InsertGroup): InsertAnswer {
  const refusal = findConflict(state, group);
  if (refusal) return refusal;

  for (const { job, events } of group.jobs) {
    const queue = keyOf(job.tenant, job.queue);
    if (!state.queues.has(queue)) state.queues.set(queue, { tenant: job.tenant, name: job.queue, paused: false });
    state.write(job, events);
  }
  const tenant = group.jobs[0]?.job.tenant ?? '';
  for (const edge of group.edges ?? []) state.edges.push({ ...edge, tenant });
  for (const { job } of group.jobs) if (job.limitKey !== null) admit(state, job.tenant, job.limitKey);
  return { status: 'inserted', jobs: group.jobs.map(({ job }) => state.get(job.tenant, job.id)!) };
}

/** Looked for before anything is written; that is all the atomicity a group needs here. */
function findConflict(state: MemoryState, group: InsertGroup): InsertAnswer | undefined {
  for (const [index, { job }] of group.jobs.entries()) {
    const earlier = group.jobs.slice(0, index).map((other) => other.job);
    const sameId = state.get(job.tenant, job.id) ?? earlier.find((other) => other.id === job.id);
    if (sameId) return { status: 'exists', index, job: sameId };
    if (job.idempotencyKey === null) continue;
    const sameKey = [...state.rows(), ...earlier].find(
      (other) => other.tenant === job.tenant && other.idempotencyKey === job.idempotencyKey,
    );
    if (sameKey) return { status: 'repeated', index, job: sameKey };
  }
  return undefined;
}
