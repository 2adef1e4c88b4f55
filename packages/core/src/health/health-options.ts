import { checkNames } from '../check.ts';
import { invalidField } from '../errors.ts';
import { CHECK_NAMES, type CheckName } from './checks-port.ts';

const MINUTE_MS = 60_000;

/** A level is reached when what was measured is above it, never at it. */
export interface Levels {
  warningMs: number;
  criticalMs: number;
}

export interface JobLevels extends Levels {
  /** A run that goes on for longer is in overtime, whatever its heartbeats say. */
  overtimeMs: number;
}

export interface HealthOptions {
  /** Whether this engine takes part in the rounds. Without them the checks run when they are asked for. @defaultValue true */
  rounds?: boolean;
  /** From one round to the next, on whichever server. @defaultValue 5 minutes */
  everyMs?: number;
  /** Checks that are not run at all. @defaultValue none */
  off?: readonly CheckName[];
  /** Time since the last sign of life of a run, and how long it may take. @defaultValue 5, 10 and 60 minutes */
  jobs?: Partial<JobLevels>;
  /** The same for jobs of single types. What is named here holds to the letter, whatever the lease of the job. */
  tasks?: Readonly<Record<string, Partial<JobLevels>>>;
  /** How long the next job of a queue has waited. @defaultValue 5 and 30 minutes */
  queueAge?: Partial<Levels>;
  /** The same for single queues. */
  queues?: Readonly<Record<string, Partial<Levels>>>;
  /** Dead letters of a tenant. @defaultValue more than 0, more than 100 */
  deadLetters?: { warning?: number; critical?: number };
  /** How much later than its time a schedule has not fired. @defaultValue 1 and 10 minutes */
  lateCrons?: Partial<Levels>;
  /** Age of the oldest event that a sink has not delivered. @defaultValue 5 and 60 minutes */
  sinkLag?: Partial<Levels>;
  /**
   * How long jobs wait in a queue where none is running: critical where no worker is live, a warning where some are.
   * @defaultValue 1 minute without workers, 5 minutes with some
   */
  liveWorkers?: { noneMs?: number; unservedMs?: number };
  /** How long the oldest row that is due has waited for the sweep. @defaultValue 30 seconds and 5 minutes */
  sweepLag?: Partial<Levels>;
  /** How far ahead of this machine's clock others write. @defaultValue 5 seconds and 1 minute */
  clockSkew?: Partial<Levels>;
}

export interface HealthSettings {
  rounds: boolean;
  everyMs: number;
  off: ReadonlySet<CheckName>;
  jobs: JobLevels;
  tasks: ReadonlyMap<string, Partial<JobLevels>>;
  queueAge: Levels;
  queues: ReadonlyMap<string, Partial<Levels>>;
  deadLetters: { warning: number; critical: number };
  lateCrons: Levels;
  sinkLag: Levels;
  liveWorkers: { noneMs: number; unservedMs: number };
  sweepLag: Levels;
  clockSkew: Levels;
}

const minutes = (warning: number, critical: number): Levels => ({
  warningMs: warning * MINUTE_MS,
  criticalMs: critical * MINUTE_MS,
});

const DEFAULTS = {
  jobs: { ...minutes(5, 10), overtimeMs: 60 * MINUTE_MS },
  queueAge: minutes(5, 30),
  deadLetters: { warning: 0, critical: 100 },
  lateCrons: minutes(1, 10),
  sinkLag: minutes(5, 60),
  liveWorkers: { noneMs: MINUTE_MS, unservedMs: 5 * MINUTE_MS },
  sweepLag: minutes(0.5, 5),
  clockSkew: { warningMs: 5_000, criticalMs: MINUTE_MS },
} satisfies Partial<HealthSettings>;

type Group = keyof typeof DEFAULTS;

const GROUPS = Object.keys(DEFAULTS) as Group[];
const NAMES = ['rounds', 'everyMs', 'off', 'tasks', 'queues', ...GROUPS];

/** The options with all defaults filled in; refuses what no check could go by. */
export function healthSettings(options: HealthOptions = {}): HealthSettings {
  checkNames("The option 'health'", options, NAMES);
  const { rounds = true, everyMs = 5 * MINUTE_MS, off = [] } = options;
  if (typeof rounds !== 'boolean') throw invalidField('health.rounds', 'must be true or false.');
  if (!(Number.isFinite(everyMs) && everyMs > 0)) throw invalidField('health.everyMs', 'must be a number above 0.');
  if (!Array.isArray(off)) throw invalidField('health.off', 'must be a list of checks.');
  const stranger = off.find((name) => !CHECK_NAMES.includes(name));
  if (stranger !== undefined) {
    throw invalidField('health.off', `names no check '${String(stranger).slice(0, 100)}'.`, { allowed: CHECK_NAMES });
  }
  const filled = Object.fromEntries(
    GROUPS.map((name) => [name, levels(`health.${name}`, options[name], DEFAULTS[name])]),
  ) as unknown as Pick<HealthSettings, Group>;
  return {
    ...filled,
    ...{ rounds, everyMs, off: new Set(off) },
    tasks: named('health.tasks', options.tasks, filled.jobs),
    queues: named('health.queues', options.queues, filled.queueAge),
  };
}

/** Refuses what `healthSettings` refuses, before anything is opened. */
export const checkHealthOptions = (options: HealthOptions): void => void healthSettings(options);

/** What is set for single types or queues, checked with what holds for all of them. */
function named<L extends object>(
  field: string,
  given: Readonly<Record<string, Partial<L>>> = {},
  base: L,
): ReadonlyMap<string, Partial<L>> {
  checkNames(`The option '${field}'`, given, Object.keys(given));
  for (const [name, some] of Object.entries(given)) levels(`${field}.${name}`, some, base);
  return new Map(Object.entries(given));
}

/** What is worse must not be reached sooner. */
function levels<L extends object>(field: string, given: Partial<L> = {}, base: L): L {
  checkNames(`The option '${field}'`, given, Object.keys(base));
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !(typeof value === 'number' && Number.isFinite(value) && value >= 0)) {
      throw invalidField(`${field}.${name}`, 'must be a number from 0 on.');
    }
  }
  const all = { ...base, ...given } as L & Record<string, number | undefined>;
  for (const unit of ['', 'Ms']) {
    const [warning, critical] = [all[`warning${unit}`], all[`critical${unit}`]];
    if (warning === undefined || critical === undefined || warning <= critical) continue;
    throw invalidField(
      `${field}.warning${unit}`,
      `must not be above critical${unit}, and is ${warning} of ${critical}.`,
    );
  }
  return all;
}
