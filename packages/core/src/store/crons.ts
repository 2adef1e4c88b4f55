import type { Told } from '../events/subject-event.ts';
import type { JsonObject } from '../json.ts';
import type { NewJob, Stored } from './insert.ts';

export const OVERLAP_POLICIES = ['skip', 'allow', 'cancel_previous'] as const;
/** What to do when a tick comes while the job of the tick before has not finished. */
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

export const MISFIRE_POLICIES = ['run_once', 'skip', 'catch_up'] as const;
/** What to do about ticks that nobody was there to fire. */
export type MisfirePolicy = (typeof MISFIRE_POLICIES)[number];

/** A schedule that makes jobs. */
export interface CronRecord {
  tenant: string;
  name: string;
  expression: string;
  timezone: string;
  overlap: OverlapPolicy;
  misfire: MisfirePolicy;
  /** Ticks that `catch_up` makes up for at most; the newest of them. */
  catchUpLimit: number;
  enabled: boolean;
  description: string | null;
  /** The job of each tick, as a producer would send it. */
  template: JsonObject;
  /** Null while it is disabled. */
  nextAt: number | null;
  lastAt: number | null;
  lastJobId: string | null;
  runs: number;
  createdAt: number;
  /** Grows with every change by a person, so that a tick of the old schedule cannot be fired by the new one. */
  version: number;
}

/**
 * The cron that takes the place of another one. It keeps what that one has done; the last job stays known, because overlap
 * is about the job before, whichever schedule made it. With the same schedule it keeps the next tick too, because that tick
 * may be due already: every start of a process registers its crons again.
 */
export function cronReplacing(before: CronRecord, cron: CronRecord): CronRecord {
  const { createdAt, runs, lastAt, lastJobId } = before;
  const isSame =
    before.expression === cron.expression && before.timezone === cron.timezone && before.enabled === cron.enabled;
  const nextAt = isSame ? (before.nextAt ?? cron.nextAt) : cron.nextAt;
  const version = Math.max(cron.version, before.version + 1);
  return { ...cron, createdAt, runs, lastAt, lastJobId, nextAt, version };
}

export interface FireRequest {
  tenant: string;
  name: string;
  /** The cron must still be as it was read. */
  expected: { version: number; nextAt: number };
  /** When it fires next. */
  nextAt: number | null;
  /** The tick that is being dealt with. */
  tick: number;
  /** Absent: the tick is passed over. */
  job?: NewJob;
  /** Told with the move, unless another job kept this one out. */
  told?: Told;
}

/** `fired` without a job: the tick was passed over, or another job kept its job out. `lost`: another call was faster. */
export type FireAnswer = ({ status: 'fired' } & Stored) | { status: 'lost' };

export interface EnableRequest {
  tenant: string;
  name: string;
  /** The version that was read. */
  expected: number;
  enabled: boolean;
  nextAt: number | null;
}

export interface CronStore {
  /** Creates, or replaces by name as `cronReplacing` says. */
  put(cron: CronRecord, told?: Told): Promise<CronRecord>;
  get(tenant: string, name: string): Promise<CronRecord | null>;
  /**
   * Switches it on or off and leaves the rest of it alone; its version grows by one. Null, and nothing is changed or told,
   * when it has been changed or removed since it was read.
   */
  enable(request: EnableRequest, told?: Told): Promise<CronRecord | null>;
  /** By name. */
  list(tenant: string): Promise<CronRecord[]>;
  /** Answers what was removed; null when there was nothing. */
  remove(tenant: string, name: string, told?: Told): Promise<CronRecord | null>;
  /** Moves the cron on and inserts the tick's job in one transaction. */
  fire(request: FireRequest): Promise<FireAnswer>;
}
