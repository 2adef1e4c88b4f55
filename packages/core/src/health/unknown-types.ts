import type { Clock } from '../clock.ts';
import { isFinished, type Job, lastError } from '../job/job.ts';
import { UNKNOWN_TYPE } from '../job/outcome.ts';
import type { UnknownType, UnknownTypesHealth } from '../waybill.ts';

/** Types that health names; the jobs of the others are counted. */
const MOST_NAMED = 10;
/** Beyond this the oldest jobs are forgotten: they are only not counted. */
const MOST_KEPT = 10_000;
/** A job that no worker handed back by then was run, ended or removed elsewhere, or waits for any worker at all. */
const FORGOTTEN_AFTER_MS = 60_000;

interface Kept {
  tenant: string;
  type: string;
  queue: string;
  reason: string;
  nextTryAt: number;
  /** By monotonic time: a clock that is set back must not hold a job for longer. */
  forgetAt: number;
}

/**
 * Jobs that workers handed back to this process because they have no task for them. Kept in memory, so that nothing is
 * looked for when health is asked. Other jobs cost one comparison per write.
 */
export class UnknownTypes {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A worker has handed the job back for a reason. */
  handedBack(job: Job): void {
    if (!isUnknown(job)) return;
    const { tenant, type, queue } = job;
    const nextTryAt = job.scheduledAt ?? this.#clock.now();
    const forgetAt = this.#clock.monotonic() + Math.max(0, nextTryAt - this.#clock.now()) + FORGOTTEN_AFTER_MS;
    const key = keyOf(job);
    // Put at the end, so that the first in the map is the one that was handed back longest ago.
    this.#kept.delete(key);
    this.#kept.set(key, { tenant, type, queue, reason: lastError(job)!.message, nextTryAt, forgetAt });
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
  }

  /** Rows that were written: a job that was run by another worker, or ended, waits no more. */
  written(jobs: readonly Job[]): void {
    if (this.#kept.size === 0) return;
    for (const job of jobs) if (!isUnknown(job)) this.#kept.delete(keyOf(job));
  }

  /** Why another job of the same tenant, queue and type was handed back; undefined: none was. */
  alike({ tenant, queue, type }: Job): Pick<UnknownType, 'reason' | 'nextTryAt'> | undefined {
    const now = this.#clock.monotonic();
    for (const kept of this.#kept.values()) {
      const isAlike = kept.tenant === tenant && kept.queue === queue && kept.type === type;
      if (isAlike && kept.forgetAt > now) return { reason: kept.reason, nextTryAt: kept.nextTryAt };
    }
    return undefined;
  }

  /** Undefined: there are none. */
  health(): UnknownTypesHealth | undefined {
    const now = this.#clock.monotonic();
    const types = new Map<string, UnknownType>();
    for (const [key, { type, queue, reason, nextTryAt, forgetAt }] of this.#kept) {
      if (forgetAt <= now) {
        this.#kept.delete(key);
        continue;
      }
      const known = types.get(`${queue}\n${type}`);
      const earliest = Math.min(nextTryAt, known?.nextTryAt ?? nextTryAt);
      types.set(`${queue}\n${type}`, { type, queue, reason, jobs: (known?.jobs ?? 0) + 1, nextTryAt: earliest });
    }
    if (types.size === 0) return undefined;
    const all = [...types.values()].sort((one, other) => other.jobs - one.jobs);
    return { jobs: this.#kept.size, types: all.slice(0, MOST_NAMED) };
  }
}

const keyOf = ({ tenant, id }: Job): string => `${tenant}\n${id}`;

/** Also while it is due and waits for a worker, or runs again: only the end of that run tells. */
const isUnknown = (job: Job): boolean =>
  lastError(job)?.code === UNKNOWN_TYPE && !isFinished(job.state) && isLatest(job);

const isLatest = ({ state, run, errors }: Job): boolean => errors.at(-1)!.run === (state === 'active' ? run - 1 : run);
