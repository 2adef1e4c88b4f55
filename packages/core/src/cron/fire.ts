import { changeOf, seen } from '../commit/row-change.ts';
import type { Writer } from '../commit/writer.ts';
import { WaybillError } from '../errors.ts';
import { cronSkipped, cronTriggered } from '../events/told.ts';
import { isFinished } from '../job/job.ts';
import { transition } from '../job/transition.ts';
import type { CronRecord } from '../store/crons.ts';
import type { NewJob } from '../store/insert.ts';
import type { Store } from '../store/store.ts';
import { nextTick, ticksUpTo } from './schedule.ts';

/** A tick that is found later than this was missed: nobody was there when it came. */
const MISSED_AFTER_MS = 60_000;

/** Rounds in which others may keep changing the job of the tick before. */
const MAX_ROUNDS = 20;

interface FireParts {
  store: Store;
  writer: Writer;
}

/** Makes the job of a tick. The tick is its idempotency key, whatever happens to the cron in between. */
export type MakeTick = (cron: CronRecord, tick: number) => NewJob;

/**
 * Deals with one due tick of one cron, and moves the cron on. One atomic operation per tick, expected as it was read:
 * of any number of servers one fires it.
 */
export async function fire(parts: FireParts, cron: CronRecord, make: MakeTick): Promise<void> {
  const { store, writer } = parts;
  const now = store.clock.now();
  const { tick, nextAt, isSkipped } = plan(cron, now);
  const { tenant, name, version } = cron;
  const move = { tenant, name, expected: { version, nextAt: cron.nextAt! }, nextAt, tick };
  if (isSkipped || !(await mayRun(parts, cron))) {
    const reason = isSkipped ? 'misfire' : 'overlap_prevention';
    await writer.fire({ ...move, told: cronSkipped(cron, reason, tick, now) });
    return;
  }
  const job = make(cron, tick);
  await writer.fire({ ...move, job, told: cronTriggered(cron, job.job, tick, now) });
}

interface Plan {
  tick: number;
  nextAt: number | null;
  isSkipped: boolean;
}

/** Which tick to deal with, and which comes next: both depend on how many were missed. */
function plan(cron: CronRecord, now: number): Plan {
  const due = cron.nextAt!;
  if (now - due <= MISSED_AFTER_MS) return { tick: due, nextAt: nextTick(cron, due), isSkipped: false };
  const wanted = cron.misfire === 'catch_up' ? cron.catchUpLimit : 1;
  // Ticks before the one that is due were dealt with already.
  const tick = ticksUpTo(cron, now, wanted).find((missed) => missed >= due) ?? due;
  const isMissed = now - tick > MISSED_AFTER_MS;
  return { tick, nextAt: nextTick(cron, tick), isSkipped: cron.misfire === 'skip' && isMissed };
}

/** What the overlap policy says about the job of the tick before. */
async function mayRun({ store, writer }: FireParts, { tenant, overlap, lastJobId }: CronRecord): Promise<boolean> {
  if (overlap === 'allow' || lastJobId === null) return true;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const [last] = await store.get([{ tenant, id: lastJobId }]);
    if (!last || isFinished(last.state)) return true;
    if (overlap === 'skip') return false;
    const cancelled = transition(
      last,
      { do: 'cancel', by: 'cron', reason: 'the next tick has come' },
      store.clock.now(),
    );
    const [answer] = cancelled ? await writer.apply([changeOf(last, seen(last), cancelled)]) : [];
    if (answer?.status === 'applied') return true;
    // Somebody changed it meanwhile: it is looked at again, since two jobs of one cron must not be alive.
  }
  throw new WaybillError('unavailable', `Job ${lastJobId} of the tick before is being changed by others all the time.`);
}
