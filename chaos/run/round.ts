import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CAST } from '../actors/cast.ts';
import type { CronSeen, Evidence } from '../evidence/evidence.ts';
import { readStore } from '../evidence/gather.ts';
import { readJournals } from '../evidence/journals.ts';
import type { ChaosOptions } from '../options.ts';
import type { Fault } from '../plan/fault.ts';
import { planOf } from '../plan/plan.ts';
import type { ChaosStore, OpenStore } from '../stores/store.ts';
import { untilFinished } from './drain.ts';
import { Fleet } from './fleet.ts';
import { Guard } from './guard.ts';
import { LogFollower } from './log-follower.ts';
import { addCrons, stopCrons } from './schedules.ts';

export interface RoundResult {
  evidence: Evidence;
  /** What went wrong as planned; what found its target gone is not among them. */
  injected: Fault[];
  missed: Fault[];
  leftOut: OpenStore['leftOut'];
  /** From the first job to the last end. */
  tookMs: number;
  folder: string;
}

export const planFor = ({ seed, minutes }: ChaosOptions, { hasNetwork, faults, pace }: ChaosStore): Fault[] =>
  planOf({
    ...{ seed, durationMs: minutes * 60_000, cast: CAST, hasNetwork },
    ...{ pace, storeFaults: faults },
  });

export interface RoundParts {
  store: ChaosStore;
  tell(text: string): void;
  signal: AbortSignal;
  /** Looks at what was gathered, and says whether the folder is to be kept. */
  judge(result: RoundResult): boolean;
}

/** Starts everything, lets it go wrong, lets it come to rest, and has what there is to see judged. */
export async function runRound(
  options: ChaosOptions,
  { store: chaosStore, tell, signal, judge }: RoundParts,
): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-chaos-'));
  // A server may run as another user, who must get to what is his inside.
  chmodSync(folder, 0o755);
  for (const name of ['logs', 'journals']) mkdirSync(path.join(folder, name));
  const guard = new Guard();
  guard.remove(folder);
  let store: OpenStore | undefined;
  let fleet: Fleet | undefined;
  let follower: LogFollower | undefined;
  try {
    store = await chaosStore.open({ folder, guard, minutes: options.minutes });
    signal.throwIfAborted();
    follower = new LogFollower(store.url);
    const { pace } = chaosStore;
    const { seed, jobsPerSecond = pace.jobsPerSecond } = options;
    const since = await addCrons(store.url);
    fleet = new Fleet({ store, guard, folder, seed, pace, jobsPerSecond });
    await orAborted(fleet.start(), signal);
    const begun = performance.now();
    const { injected, missed } = await orAborted(goWrong(options, chaosStore, fleet, tell, signal), signal);
    const crons = await orAborted(comeToRest(fleet, store.url, since, tell), signal);
    const tookMs = performance.now() - begun;
    await orAborted(fleet.stop('worker', 'server'), signal);
    const followedUntil = Date.now();
    const stored = await orAborted(readStore(store.url, chaosStore.orphanedAfterMs ?? 0), signal);
    await orAborted(follower.untilTold(stored.log.length), signal);
    await follower.stop();
    const evidence: Evidence = {
      ...stored,
      notes: readJournals(path.join(folder, 'journals')),
      endings: fleet.endings,
      followed: follower.told,
      followedUntil,
      crons,
      pace,
      isOrderExact: chaosStore.isOrderExact,
      clockErrorMs: chaosStore.clockErrorMs,
    };
    if (judge({ evidence, injected, missed, leftOut: store.leftOut, tookMs, folder })) guard.keep(folder);
  } finally {
    await Promise.all([fleet?.close(), follower?.stop()]);
    await store?.close();
    await guard.close();
  }
}

async function goWrong(
  options: ChaosOptions,
  store: ChaosStore,
  fleet: Fleet,
  tell: (text: string) => void,
  signal: AbortSignal,
): Promise<{ injected: Fault[]; missed: Fault[] }> {
  const begun = performance.now();
  const until = (atMs: number) => sleep(Math.max(0, begun + atMs - performance.now()), undefined, { signal });
  const [injected, missed]: [Fault[], Fault[]] = [[], []];
  const underWay: Promise<unknown>[] = [];
  for (const fault of planFor(options, store)) {
    await until(fault.atMs);
    tell(`${fault.kind} ${fault.target}`);
    const over = fleet.inject(fault).then((wasHit) => (wasHit ? injected : missed).push(fault));
    // A failure is told when all are waited for, and not before.
    over.catch(() => {});
    underWay.push(over);
  }
  await until(options.minutes * 60_000);
  await Promise.all(underWay);
  return { injected, missed };
}

/** Nothing goes wrong any more: producers get their last answers, and workers work off what is left. */
async function comeToRest(
  fleet: Fleet,
  url: string,
  since: ReadonlyMap<string, number>,
  tell: (text: string) => void,
): Promise<CronSeen[]> {
  tell('everything works again');
  await fleet.heal();
  await fleet.stop('producer');
  const crons = await stopCrons(url, since);
  tell('producers have ended');
  const left = await untilFinished(url);
  tell(left === 0 ? 'all jobs have ended' : 'some jobs have not ended');
  return crons;
}

/** The processes are ended by the guard, whatever they are doing. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
}
