import type { InsertGroup } from '@waybill/core';

/** Two texts as one map key; neither can pretend to be part of the other, since names have no line ends. */
export const keyOf = (tenant: string, name: string): string => `${tenant}\n${name}`;

/** What no two groups may share that are stored at the same time. */
export function* keysOf({ jobs, workflow }: InsertGroup): Generator<string> {
  for (const { job, unique } of jobs) {
    const { tenant, id, idempotencyKey } = job;
    yield keyOf(tenant, `i${id}`);
    if (idempotencyKey !== null) yield keyOf(tenant, `k${idempotencyKey}`);
    if (!unique) continue;
    yield keyOf(tenant, `u${unique.key}`);
    if (unique.owner) yield keyOf(tenant, `i${unique.owner.id}`);
  }
  if (workflow) yield keyOf(jobs[0]?.job.tenant ?? '', `w${'join' in workflow ? workflow.join : workflow.create.id}`);
}
