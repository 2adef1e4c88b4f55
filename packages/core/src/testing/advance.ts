import type { Job } from '../job/job.ts';
import type { Command } from '../job/transition.ts';
import type { JobKey } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { versionChange } from './changes.ts';

/**
 * The steps that the engine makes for finished nodes of one tenant: what is met is met, a child that waits for nothing
 * more is dispatched by compare-and-set (or moved by another command), and the mark of the parents is cleared last. Answers the rows that this very
 * call has dispatched.
 */
export async function advance(
  store: Store,
  parents: readonly JobKey[],
  now: number,
  command: Command = { do: 'activate' },
): Promise<Job[]> {
  const tenant = parents[0]?.tenant ?? '';
  const met = await store.workflows.meet({ tenant, ids: parents.map(({ id }) => id) });
  const children = met.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const dispatched = await applied(store, children, command, now);
  const rows = (await store.get(parents)).filter((row) => row !== null);
  await applied(store, rows, { do: 'advanced' }, now);
  return (await store.get(dispatched)).filter((row) => row !== null);
}

/** One by one, since who of a batch gets a limit's slot is not for every store to say. */
async function applied(store: Store, rows: readonly Job[], command: Command, now: number): Promise<JobKey[]> {
  const done: JobKey[] = [];
  for (const row of rows) {
    const change = versionChange(row, command, now);
    if (!change) continue;
    const [answer] = await store.apply([change]);
    if (answer?.status === 'applied') done.push({ tenant: row.tenant, id: row.id });
  }
  return done;
}
