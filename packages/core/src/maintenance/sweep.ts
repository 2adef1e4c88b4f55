import { apart } from '../commit/apart.ts';
import { changeOf, seen } from '../commit/row-change.ts';
import { LOCK_WAIT } from '../commit/write-lanes.ts';
import type { Writer } from '../commit/writer.ts';
import { fire, type MakeTick } from '../cron/fire.ts';
import { WaybillError } from '../errors.ts';
import { maintenanceFailed } from '../events/told.ts';
import { isToAdvance, type Job } from '../job/job.ts';
import { transition } from '../job/transition.ts';
import type { Change } from '../store/apply.ts';
import type { CronRecord } from '../store/crons.ts';
import type { Store } from '../store/store.ts';
import type { WorkflowRecord } from '../store/workflow-record.ts';
import { advance } from '../workflow/advance.ts';
import type { MakeNodes } from '../workflow/end.ts';
import { timeOut } from '../workflow/time-out.ts';
import type { FailingItem, FailingItems, Item } from './failing-items.ts';
import type { JumpWatch } from './jump-watch.ts';
import { StoreCheck } from './store-check.ts';

/** Rows looked at in one go. */
export const SWEEP_BATCH = 500;

export interface SweepAnswer {
  /** Rows whose run the sweep has ended: past its timeout, or with a lease that ran out. */
  failed: Job[];
  /** When to look again; null: nothing waits. */
  nextAt: number | null;
  /** More was due than one sweep takes, or what was done may have made more due. */
  more: boolean;
  /** Something was due, and nothing could be done about it: a look at once would find the same. */
  isStuck: boolean;
  /** How much later than it was due the oldest row was looked at; 0 where nothing was due. */
  lagMs: number;
}

/** What the sweep needs to make jobs of its own. */
export interface Makers extends MakeNodes {
  tick: MakeTick;
}

interface SweepParts {
  store: Store;
  writer: Writer;
  make: Makers;
  failing: FailingItems;
}

interface Sweep extends SweepParts {
  check: StoreCheck;
  /** What failed in this sweep. Nothing is put off before its end, when it is known that the store is well. */
  failures: Failure[];
}

interface Failure {
  item: Item;
  error: unknown;
  /** The row, where it can take a note. */
  job?: Job;
}

/**
 * Looks at everything whose time has come and lets `transition` decide. Idempotent: any number of servers may sweep at
 * once, since each change is a compare-and-set and whoever is late has simply nothing to do. A job, workflow or cron that
 * fails is put off, and the others go on; only a store that does not answer ends the sweep.
 */
export async function sweepOnce(given: SweepParts, jumps: JumpWatch): Promise<SweepAnswer> {
  const { store, writer, failing } = given;
  const sweep: Sweep = { ...given, check: new StoreCheck(store), failures: [] };
  const now = store.clock.now();
  jumps.look();
  const limit = SWEEP_BATCH + jumps.held + Math.max(failing.size, failing.passed);
  const answer = await writer.due({ now, limit });
  const known = [...answer.jobs.map(itemOf), ...answer.crons.map(cronItem), ...answer.workflows.map(flowItem)];
  failing.forget([...known, ...answer.unreadable]);
  const before = failing.size;
  for (const { cause, ...item } of answer.unreadable) {
    if (!failing.holds(item)) await tell(sweep, failing.failed(item, unreadable(cause)));
  }
  const inTime = answer.jobs.filter((job) => !jumps.holds(job));
  jumps.held = answer.jobs.length - inTime.length;
  const ready = inTime.filter((job) => !failing.holds(itemOf(job)));
  failing.passed = answer.unreadable.length + inTime.length - ready.length;
  // What is known by now is looked past, and there is more behind it.
  const isHidden = failing.size > before && known.length + answer.unreadable.length >= limit;
  const crons = answer.crons.filter((cron) => !failing.holds(cronItem(cron)));
  const late = answer.workflows.filter((workflow) => !failing.holds(flowItem(workflow)));

  const nodes = ready.filter(isToAdvance);
  await advanceAll(sweep, nodes);
  await fireAll(sweep, crons);
  const ended = await timeOutAll(sweep, late);
  const { ticked, failed } = await tickAll(sweep, ready, now);
  sweep.check.end();
  await putOff(sweep);
  // By the time that was asked about: what became due meanwhile is found by the next look, at once.
  const isOverdue = answer.nextAt !== null && answer.nextAt <= now;
  return {
    failed,
    nextAt: answer.nextAt,
    more: ticked >= SWEEP_BATCH || nodes.length > 0 || crons.length > 0 || ended > 0 || isHidden,
    isStuck: isOverdue && ticked === 0 && answer.admitted.length === 0,
    lagMs: lagOf([...ready, ...crons, ...late], now),
  };
}

/** Rows that are held back on purpose, because they failed or the clock jumped, are not among these. */
const lagOf = (due: readonly { nextAt: number | null }[], now: number): number =>
  due.reduce((lag, { nextAt }) => (nextAt === null ? lag : Math.max(lag, now - nextAt)), 0);

async function advanceAll(sweep: Sweep, nodes: readonly Job[]): Promise<void> {
  const { store, writer, make, failing, check, failures } = sweep;
  const flows = [...Map.groupBy(nodes, ({ tenant, workflowId }) => `${tenant}\n${workflowId}`).values()];
  const run = async (some: readonly Job[][]): Promise<void> => {
    await advance({ store, writer, make }, some.flat());
    for (const node of some.flat()) failing.succeeded(itemOf(node));
    check.succeeded();
  };
  await apart(flows, run, {
    isShared: isShared(check),
    onFailed: (flow, error) => failures.push(...flow.map((job) => ({ item: itemOf(job), error, job }))),
  });
}

async function fireAll(sweep: Sweep, crons: readonly CronRecord[]): Promise<void> {
  const { store, writer, make, failing, check, failures } = sweep;
  const run = async ([cron]: readonly CronRecord[]): Promise<void> => {
    await fire({ store, writer }, cron!, make.tick);
    failing.succeeded(cronItem(cron!));
    check.succeeded();
  };
  const onFailed = (cron: CronRecord, error: unknown) => failures.push({ item: cronItem(cron), error });
  await Promise.all(crons.map((cron) => apart([cron], run, { isShared: isShared(check), onFailed })));
}

/** Answers how many have ended. One that has not, because its rows are being changed by others, is due until it has. */
async function timeOutAll(sweep: Sweep, workflows: readonly WorkflowRecord[]): Promise<number> {
  const { store, writer, make, failing, check, failures } = sweep;
  let ended = 0;
  const run = async ([workflow]: readonly WorkflowRecord[]): Promise<void> => {
    if (await timeOut({ store, writer, make }, workflow!)) ended += 1;
    failing.succeeded(flowItem(workflow!));
    check.succeeded();
  };
  const onFailed = (workflow: WorkflowRecord, error: unknown) => failures.push({ item: flowItem(workflow), error });
  for (const workflow of workflows) await apart([workflow], run, { isShared: isShared(check), onFailed });
  return ended;
}

interface Ticked {
  /** How many rows were written. */
  ticked: number;
  failed: Job[];
}

interface Tick {
  job: Job;
  change: Change;
}

/** No worker has claimed it in time; only a transport of hints has such rows. */
const waitsOn = ({ job, change }: Tick): boolean => job.state === 'available' && change.job.state === 'available';

async function tickAll(sweep: Sweep, jobs: readonly Job[], now: number): Promise<Ticked> {
  const { store, writer, failing, check, failures } = sweep;
  const due: Tick[] = [];
  for (const job of jobs) {
    try {
      const after = transition(job, { do: 'tick' }, now);
      if (after) due.push({ job, change: changeOf(job, seen(job), after) });
      // A node was advanced before; anything else is due for nothing, and would come up again in every sweep.
      else if (!isToAdvance(job)) failures.push({ item: itemOf(job), error: notDue(job), job });
    } catch (error) {
      failures.push({ item: itemOf(job), error, job });
    }
  }
  const failed: Job[] = [];
  let ticked = 0;
  const runBy = (write: Writer['apply']) => async (some: readonly Tick[]) => {
    const answers = await write(some.map(({ change }) => change));
    answers.forEach((answer, index) => {
      if (answer.status !== 'applied') return;
      const { job, events } = some[index]!.change;
      ticked += 1;
      if (events.some(({ type }) => type === 'job.failed' || type === 'job.lease_expired')) failed.push(job);
    });
    for (const { job } of some) failing.succeeded(itemOf(job));
    check.succeeded();
  };
  const options = {
    isShared: isShared(check),
    onFailed: ({ job }: Tick, error: unknown) => failures.push({ item: itemOf(job), error, job }),
  };
  // Sliced here: what one batch has written must be counted although another one fails.
  const { maxBatch } = store.capabilities;
  const inSlices = async (ticks: readonly Tick[], run: (some: readonly Tick[]) => Promise<void>) => {
    for (let from = 0; from < ticks.length; from += maxBatch) {
      await apart(ticks.slice(from, from + maxBatch), run, options);
    }
  };
  await inSlices(
    due.filter((tick) => !waitsOn(tick)),
    runBy((changes) => writer.apply(changes, LOCK_WAIT)),
  );
  await inSlices(
    due.filter(waitsOn),
    runBy((changes) => writer.remind(changes)),
  );
  return { ticked, failed };
}

/**
 * Where the row takes the note, other servers leave it alone too, and its events tell why nothing happens. Not at the
 * first failure: a connection that broke once is no fault of the row.
 */
async function putOff(sweep: Sweep): Promise<void> {
  const { store, writer, failing, failures: all } = sweep;
  for (const { item, error, job } of all) {
    const failed = failing.failed(item, error);
    const { nextTryAt: until, reason, failures } = failed;
    if (failures === 1) continue;
    if (!job) {
      await tell(sweep, failed);
      continue;
    }
    const after = transition(job, { do: 'put_off', until, reason }, store.clock.now());
    // A row that takes no note is held back by `failing` alone.
    const isNoted = after !== null && (await writer.putOff(changeOf(job, seen(job), after)).catch(() => false));
    if (isNoted) failing.noted(item);
  }
}

/** What has no row that could take a note is told by itself. */
async function tell({ store, writer }: Sweep, failed: FailingItem): Promise<void> {
  if (failed.failures > 1) await writer.tell([maintenanceFailed(failed, store.clock.now())]).catch(() => {});
}

const isShared =
  (check: StoreCheck) =>
  async (error: unknown, items: readonly unknown[]): Promise<boolean> => {
    await check.failed(error, items.length);
    return false;
  };

const notDue = ({ state }: Job): WaybillError =>
  new WaybillError('internal', `The row is due, but nothing is to be done for a job that is ${state}.`);

const unreadable = (cause: unknown): WaybillError =>
  new WaybillError('internal', 'The row cannot be read: it is damaged, or a newer version wrote it.', { cause });

const itemOf = ({ tenant, id }: Job): Item => ({ kind: 'job', tenant, id });

const flowItem = ({ tenant, id }: WorkflowRecord): Item => ({ kind: 'workflow', tenant, id });

/** A cron that was changed by a person is another one: it is tried at once. */
const cronItem = ({ tenant, name, version }: CronRecord): Item => ({ kind: 'cron', tenant, id: name, version });
