import { apart } from '../commit/apart.ts';
import { changeOf, seen } from '../commit/row-writer.ts';
import { fire, type MakeTick } from '../cron/fire.ts';
import { WaybillError } from '../errors.ts';
import type { Job } from '../job/job.ts';
import { transition } from '../job/transition.ts';
import type { Change } from '../store/apply.ts';
import type { CronRecord } from '../store/crons.ts';
import type { Store } from '../store/store.ts';
import { advance, type MakeJob } from '../workflow/advance.ts';
import type { FailingItems, Item } from './failing-items.ts';
import type { JumpWatch } from './jump-watch.ts';

/** Rows looked at in one go. */
export const SWEEP_BATCH = 500;

export interface SweepAnswer {
  /** Rows that were changed or made. */
  changed: Job[];
  /** Rows that nobody has claimed in time; only a transport of hints has some. */
  unclaimed: Job[];
  /** Rows among these whose run the sweep has ended: past its timeout, or with a lease that ran out. */
  failed: Job[];
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

interface SweepParts {
  store: Store;
  make: Makers;
  failing: FailingItems;
}

/**
 * Looks at everything whose time has come and lets `transition` decide. Idempotent: any number of servers may sweep at
 * once, since each change is a compare-and-set and whoever is late has simply nothing to do. A job, workflow or cron that
 * fails is put off, and the others go on; only a store that does not answer ends the sweep.
 */
export async function sweepOnce(parts: SweepParts, jumps: JumpWatch): Promise<SweepAnswer> {
  const { store, failing } = parts;
  const now = store.clock.now();
  jumps.look();
  failing.forgetOld();
  const answer = await store.due({ now, limit: SWEEP_BATCH + jumps.held + failing.size });
  for (const { cause, ...item } of answer.unreadable) if (!failing.holds(item)) failing.failed(item, unreadable(cause));
  const inTime = answer.jobs.filter((job) => !jumps.holds(job));
  jumps.held = answer.jobs.length - inTime.length;
  const ready = inTime.filter((job) => !failing.holds(itemOf(job)));
  const crons = answer.crons.filter((cron) => !failing.holds(cronItem(cron)));

  const nodes = ready.filter(({ advancePending }) => advancePending);
  const advanced = await advanceAll(parts, nodes);
  const fired = await fireAll(parts, crons);
  const waited = new Set(ready.flatMap(({ tenant, id, state }) => (state === 'available' ? [`${tenant} ${id}`] : [])));
  const { ticked, failed } = await tickAll(parts, ready, now);
  const isUnclaimed = ({ tenant, id, state }: Job) => state === 'available' && waited.has(`${tenant} ${id}`);
  const unclaimed = ticked.filter(isUnclaimed);
  const moved = ticked.filter((job) => !isUnclaimed(job));
  return {
    changed: [...answer.admitted, ...advanced, ...fired, ...moved],
    unclaimed,
    failed,
    nextAt: answer.nextAt,
    more: ready.length >= SWEEP_BATCH || nodes.length > 0 || crons.length > 0,
  };
}

async function advanceAll(parts: SweepParts, nodes: readonly Job[]): Promise<Job[]> {
  const { store, make, failing } = parts;
  const flows = [...Map.groupBy(nodes, ({ tenant, workflowId }) => `${tenant}\n${workflowId}`).values()];
  const changed: Job[] = [];
  const failed: [Job, unknown][] = [];
  const run = async (some: readonly Job[][]): Promise<void> => {
    changed.push(...(await advance(store, some.flat(), make.callback)));
    for (const node of some.flat()) failing.succeeded(itemOf(node));
  };
  await apart(flows, run, {
    isShared: isAway(store),
    onFailed: (flow, error) => {
      for (const node of flow) failed.push([node, error]);
    },
  });
  await putOff(parts, failed);
  return changed;
}

async function fireAll({ store, make, failing }: SweepParts, crons: readonly CronRecord[]): Promise<Job[]> {
  const fired: Job[] = [];
  const run = async ([cron]: readonly CronRecord[]): Promise<void> => {
    const job = await fire(store, cron!, make.tick);
    if (job) fired.push(job);
    failing.succeeded(cronItem(cron!));
  };
  const onFailed = (cron: CronRecord, error: unknown) => failing.failed(cronItem(cron), error);
  await Promise.all(crons.map((cron) => apart([cron], run, { isShared: isAway(store), onFailed })));
  return fired;
}

interface Ticked {
  ticked: Job[];
  failed: Job[];
}

interface Tick {
  job: Job;
  change: Change;
}

async function tickAll(parts: SweepParts, jobs: readonly Job[], now: number): Promise<Ticked> {
  const { store, failing } = parts;
  const refused: [Job, unknown][] = [];
  const due: Tick[] = [];
  for (const job of jobs) {
    try {
      const after = transition(job, { do: 'tick' }, now);
      if (after) due.push({ job, change: changeOf(job, seen(job), after) });
    } catch (error) {
      refused.push([job, error]);
    }
  }
  const ticked: Job[] = [];
  const failed: Job[] = [];
  const run = async (some: readonly Tick[]): Promise<void> => {
    const answers = await store.apply(some.map(({ change }) => change));
    answers.forEach((answer, index) => {
      if (answer.status !== 'applied') return;
      const { job, events } = some[index]!.change;
      ticked.push(job, ...answer.admitted);
      if (events.some(({ type }) => type === 'job.failed' || type === 'job.lease_expired')) failed.push(job);
    });
    for (const { job } of some) failing.succeeded(itemOf(job));
  };
  const { maxBatch } = store.capabilities;
  for (let from = 0; from < due.length; from += maxBatch) {
    await apart(due.slice(from, from + maxBatch), run, {
      isShared: isAway(store),
      onFailed: ({ job }, error) => refused.push([job, error]),
    });
  }
  await putOff(parts, refused);
  return { ticked, failed };
}

/**
 * Where the row takes the note, other servers leave it alone too, and its events tell why nothing happens. Not at the
 * first failure: a connection that broke once is no fault of the row.
 */
async function putOff({ store, failing }: SweepParts, failed: readonly [Job, unknown][]): Promise<void> {
  for (const [job, error] of failed) {
    const { nextTryAt: until, reason, failures } = failing.failed(itemOf(job), error);
    if (failures === 1) continue;
    const after = transition(job, { do: 'put_off', until, reason }, store.clock.now());
    // A row that refuses even this is held back by `failing` alone.
    if (after) await store.apply([changeOf(job, seen(job), after)]).catch(() => {});
  }
}

/** Tells a bad item from a store that does not answer; then the whole sweep fails and is repeated. */
const isAway =
  (store: Store) =>
  async (error: unknown): Promise<boolean> => {
    await store.ping().catch(() => {
      throw error;
    });
    return false;
  };

const unreadable = (cause: unknown): WaybillError =>
  new WaybillError('internal', 'The row cannot be read: it is damaged, or a newer version wrote it.', { cause });

const itemOf = ({ tenant, id }: Job): Item => ({ kind: 'job', tenant, id });

const cronItem = ({ tenant, name }: CronRecord): Item => ({ kind: 'cron', tenant, id: name });
