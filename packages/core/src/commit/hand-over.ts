import type { Job } from '../job/job.ts';
import type { InsertAnswer, InsertGroup } from '../store/insert.ts';
import type { Store } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';

/**
 * The store's insert, which gives a job that comes by itself to a claim that waits in this process, in the same write.
 * Only a shorter way: where somebody has to be woken, or the write fails, jobs are found as always.
 */
export function insertHandingOver(
  store: Store,
  { takeWaiting }: Pick<Transport, 'takeWaiting'>,
): (groups: readonly InsertGroup[]) => Promise<InsertAnswer[]> {
  if (!store.insertAndClaim || !takeWaiting) return (groups) => store.insert(groups);
  return async (groups) => {
    const job = lone(groups);
    const waiting = job && takeWaiting(job.tenant, job.queue);
    if (!waiting) return store.insert(groups);
    const both = store.insertAndClaim!(groups[0]!, waiting.request);
    waiting.serve(
      both.then(
        ({ claimed }) => claimed,
        () => null,
      ),
    );
    return [(await both).answer];
  };
}

/** A job that can be claimed at once, and is all that there is. Many share a write with each other already. */
function lone(groups: readonly InsertGroup[]): Job | undefined {
  const [group] = groups;
  if (groups.length !== 1 || group!.jobs.length !== 1) return undefined;
  const { job } = group!.jobs[0]!;
  return job.rank === null ? undefined : job;
}
