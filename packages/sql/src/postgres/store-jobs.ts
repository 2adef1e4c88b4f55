import type { Job, NewJob, WriteOptions } from '@waybill/core';
import type { Base } from './base.ts';
import { readyQueues } from './bell.ts';
import { insertOneParameters, insertParameters, isSimple } from './columns.ts';
import { keyOf } from './keys.ts';
import type { Queryable } from './link/link.ts';

/** Stores jobs of one tenant with their events. */
export async function store(
  base: Base,
  to: Queryable,
  made: readonly NewJob[],
  { lockWaitMs }: WriteOptions = {},
): Promise<void> {
  const { bell, knownQueues, sql } = base;
  const [first] = made;
  if (made.length === 1 && isSimple(first!)) {
    const { queue, rank } = first!.job;
    const wake = rank === null ? null : bell.payload([queue]);
    await to.query(sql['insert-one'], insertOneParameters(first!, isUnknown(base, first!.job), wake));
    return;
  }
  const jobs = made.map(({ job }) => job);
  const queues = new Set(jobs.map(({ queue }) => queue));
  const fresh = [...queues].filter((queue) => !knownQueues.has(keyOf(jobs[0]!.tenant, queue)));
  const parameters = insertParameters(made, fresh, bell.payload(readyQueues(jobs)));
  if (lockWaitMs === undefined) await to.query(sql.insert, parameters);
  else await to.query(sql['insert-keyed'], [...parameters, String(lockWaitMs)]);
}

/** Whether the job's queue may have no row yet. */
export const isUnknown = ({ knownQueues }: Base, { tenant, queue }: Job): boolean =>
  !knownQueues.has(keyOf(tenant, queue));

/** Neighbours nearly always have the same queue, so that its name is made and looked up once. */
export function noteQueues({ knownQueues }: Base, stored: readonly Job[]): void {
  let last: Job | undefined;
  for (const job of stored) {
    if (job.queue !== last?.queue || job.tenant !== last.tenant) knownQueues.add(keyOf(job.tenant, job.queue));
    last = job;
  }
}
