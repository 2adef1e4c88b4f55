import { changeOf, seen } from '../commit/row-writer.ts';
import { fire, type MakeTick } from '../cron/fire.ts';
import type { Job } from '../job/job.ts';
import { transition } from '../job/transition.ts';
import type { Change } from '../store/apply.ts';
import type { Store } from '../store/store.ts';
import { advance, type MakeJob } from '../workflow/advance.ts';
import type { JumpWatch } from './jump-watch.ts';

/** Rows looked at in one go. */
export const SWEEP_BATCH = 500;

export interface SweepAnswer {
  /** Rows that were changed or made. */
  changed: Job[];
  /** Rows that nobody has claimed in time; only a transport of hints has some. */
  unclaimed: Job[];
  /** When to look again; null: nothing waits. */
  nextAt: number | null;
  /** More was due than one sweep takes, or what was done may have made more due. */
  more: boolean;
}

/** What the sweep needs to make jobs of its own. */
export interface Makers {
  tick: MakeTick;
  callback: MakeJob;
}

/**
 * Looks at everything whose time has come and lets `transition` decide. Idempotent: any number of servers may sweep at
 * once, since each change is a compare-and-set and whoever is late has simply nothing to do.
 */
export async function sweepOnce(store: Store, jumps: JumpWatch, make: Makers): Promise<SweepAnswer> {
  const now = store.clock.now();
  jumps.look();
  const { jobs, crons, admitted, nextAt } = await store.due({ now, limit: SWEEP_BATCH + jumps.held });
  const ready = jobs.filter((job) => !jumps.holds(job));
  jumps.held = jobs.length - ready.length;

  const nodes = ready.filter(({ advancePending }) => advancePending);
  const advanced = nodes.length === 0 ? [] : await advance(store, nodes, make.callback);
  const fired = await Promise.all(crons.map((cron) => fire(store, cron, make.tick)));
  const waited = new Set(ready.flatMap(({ tenant, id, state }) => (state === 'available' ? [`${tenant} ${id}`] : [])));
  const ticked = await tickAll(store, ready, now);
  const isUnclaimed = ({ tenant, id, state }: Job) => state === 'available' && waited.has(`${tenant} ${id}`);
  const unclaimed = ticked.filter(isUnclaimed);
  const moved = ticked.filter((job) => !isUnclaimed(job));
  const changed = [...admitted, ...advanced, ...fired.filter((job) => job !== null), ...moved];
  return { changed, unclaimed, nextAt, more: jobs.length >= SWEEP_BATCH || nodes.length > 0 || crons.length > 0 };
}

async function tickAll(store: Store, jobs: readonly Job[], now: number): Promise<Job[]> {
  const changes: Change[] = [];
  for (const job of jobs) {
    const after = transition(job, { do: 'tick' }, now);
    if (after) changes.push(changeOf(job, seen(job), after));
  }
  if (changes.length === 0) return [];
  const answers = await store.apply(changes);
  return answers.flatMap((answer, index) =>
    answer.status === 'applied' ? [changes[index]!.job, ...answer.admitted] : [],
  );
}
