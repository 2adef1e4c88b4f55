import { changeOf, seen } from '../commit/row-writer.ts';
import type { Job } from '../job/job.ts';
import { transition } from '../job/transition.ts';
import type { Change } from '../store/apply.ts';
import type { Store } from '../store/store.ts';
import type { JumpWatch } from './jump-watch.ts';

/** Rows looked at in one go. */
export const SWEEP_BATCH = 500;

export interface SweepAnswer {
  /** Rows that were changed. */
  ticked: Job[];
  /** When the next row is due; null: nothing waits. */
  nextAt: number | null;
  /** More rows were due than one sweep takes. */
  more: boolean;
}

/**
 * Ticks rows whose `nextAt` has come and lets `transition` decide. Idempotent: any number of servers may sweep at
 * once, since each change is a compare-and-set and whoever is late has simply nothing to do.
 */
export async function sweepOnce(store: Store, jumps: JumpWatch): Promise<SweepAnswer> {
  const now = store.clock.now();
  jumps.look();
  const { jobs, nextAt } = await store.due({ now, limit: SWEEP_BATCH + jumps.held });
  const ready = jobs.filter((job) => !jumps.holds(job));
  jumps.held = jobs.length - ready.length;

  await Promise.all(
    ready
      .filter((job) => job.advancePending)
      .map(({ tenant, id }) => store.workflows.advance({ tenant, parent: id, now })),
  );
  const changes: Change[] = [];
  for (const job of ready) {
    const after = transition(job, { do: 'tick' }, now);
    if (after) changes.push(changeOf(job, seen(job), after));
  }
  const answers = changes.length === 0 ? [] : await store.apply(changes);
  const ticked = changes.filter((_, index) => answers[index]!.status === 'applied').map(({ job }) => job);
  return { ticked, nextAt, more: jobs.length >= SWEEP_BATCH };
}
