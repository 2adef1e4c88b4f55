import type { Actor, Role } from '../actors/cast.ts';
import type { Pace } from '../actors/timing.ts';
import { between, oneOf, type Random, randomFrom, shuffled } from '../random.ts';
import type { Fault, FaultKind, StoreFault } from './fault.ts';

export interface PlanOptions {
  seed: string;
  durationMs: number;
  cast: readonly Actor[];
  /** Whether there is a network between engines and the store. */
  hasNetwork: boolean;
  pace: Pick<Pace, 'leaseMs' | 'faultEveryMs'>;
  /** One card each; what is named twice comes twice as often. */
  storeFaults: readonly StoreFault[];
}

/** One entry of the deck: what goes wrong, and who may be hit. */
interface Card {
  kind: FaultKind;
  targets: readonly string[];
}

/** The load comes up first, and at the end everything works again for a while. */
const FIRST_AT_MS = 1_500;
const QUIET_MS = 3_000;
/** What was hit comes up again before it is hit again. */
const REST_MS = 2_000;

/** How long each fault lasts. A process that was killed is down for so long. */
const lastsMs = (leaseMs: number): Readonly<Record<FaultKind, readonly [least: number, most: number]>> => ({
  kill: [100, 2_000],
  pause: [300, 1_500],
  'long-pause': [leaseMs + 500, leaseMs + 3_500],
  terminate: [100, 1_000],
  reset: [0, 0],
  'lose-answers': [500, 2_500],
  stall: [500, leaseMs + 1_500],
  'black-hole': [1_000, leaseMs + 1_500],
  'restart-database': [100, 2_000],
  'crash-database': [100, 1_000],
  'fill-disk': [500, 4_000],
  'lock-file': [300, 3_000],
});

/** When and where things go wrong: a pure function of its options. No target has two faults at a time. */
export function planOf({ seed, durationMs, ...world }: PlanOptions): Fault[] {
  const random = randomFrom(`plan ${seed}`);
  const lengths = lastsMs(world.pace.leaseMs);
  const lastMs = durationMs - QUIET_MS;
  const busyUntil = new Map<string, number>();
  const faults: Fault[] = [];
  let deck: Card[] = [];
  for (let atMs = FIRST_AT_MS; atMs < lastMs; atMs += between(random, ...world.pace.faultEveryMs)) {
    // All cards come before one comes again, so that a short run has most kinds, too.
    if (deck.length === 0) deck = shuffled(random, cardsOf(world));
    const { kind, targets } = deck.pop()!;
    const lasts = between(random, ...lengths[kind]);
    const target = freeTarget(random, targets, busyUntil, atMs);
    if (target === undefined || atMs + lasts > lastMs) continue;
    busyUntil.set(target, atMs + lasts + REST_MS);
    faults.push({ atMs, kind, target, lastsMs: lasts });
  }
  return faults;
}

function freeTarget(random: Random, targets: readonly string[], busyUntil: Map<string, number>, atMs: number) {
  const free = targets.filter((name) => (busyUntil.get(name) ?? 0) <= atMs);
  return free.length === 0 ? undefined : oneOf(random, free);
}

/** What happens most often in production is in the deck more often. */
function cardsOf({ cast, hasNetwork, storeFaults }: Omit<PlanOptions, 'seed' | 'durationMs'>): Card[] {
  const of = (role: Role) => cast.filter((actor) => actor.role === role).map(({ name }) => name);
  const links = cast.filter(({ upstream }) => hasNetwork || upstream !== 'store').map(({ name }) => name);
  const [servers, workers, producers] = [of('server'), of('worker'), of('producer')];
  const onStore = storeFaults.map((kind) => ({ kind, targets: ['store'] }));
  return [
    { kind: 'kill', targets: workers },
    { kind: 'kill', targets: workers },
    { kind: 'kill', targets: servers },
    { kind: 'kill', targets: producers },
    { kind: 'pause', targets: [...workers, ...servers] },
    { kind: 'long-pause', targets: workers },
    { kind: 'long-pause', targets: servers },
    { kind: 'terminate', targets: workers },
    { kind: 'terminate', targets: servers },
    { kind: 'reset', targets: links },
    { kind: 'lose-answers', targets: links },
    { kind: 'lose-answers', targets: links },
    { kind: 'stall', targets: links },
    { kind: 'black-hole', targets: links },
    ...onStore,
  ];
}

/** For people: one line for each. */
export const planTable = (faults: readonly Fault[]): string =>
  faults
    .map(({ atMs, kind, target, lastsMs }) => {
      const lasts = lastsMs === 0 ? '' : `for ${(lastsMs / 1_000).toFixed(1)} s`;
      return `${(atMs / 1_000).toFixed(1).padStart(7)} s  ${kind.padEnd(16)}  ${target.padEnd(10)}  ${lasts}`.trimEnd();
    })
    .join('\n');
