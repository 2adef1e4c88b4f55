import type { Job } from './job/job.ts';
import type { Logger } from './logger.ts';
import type { Change } from './store/apply.ts';

/**
 * What an engine tells of itself as it goes, for metrics. Told after the fact, and nothing waits for it: what an observer
 * throws is logged once and changes nothing. Every method may be left out.
 */
export interface EngineObserver {
  /** Jobs that were made: by a producer, a schedule or a workflow. Not those of a caller's own transaction. */
  inserted?(jobs: readonly Job[]): void;
  /** Jobs that a claim made active. */
  claimed?(jobs: readonly Job[]): void;
  /** Rows that were changed otherwise, each with the events that tell of it. */
  changed?(changes: readonly Change[]): void;
  /** Leases that were asked for again: those that were prolonged, and those that their holder had lost by then. */
  extended?(leases: { extended: number; lost: number }): void;
  /** How much later than it was due the sweep came to its oldest row; 0 where nothing was due. */
  swept?(round: { lagMs: number }): void;
}

/** The observer as the engine may call it: nothing that it throws comes back. */
export function guarded(observer: EngineObserver, logger: Logger): EngineObserver {
  let hasFailed = false;
  const told =
    <Fact>(tell: ((fact: Fact) => void) | undefined) =>
    (fact: Fact): void => {
      try {
        tell?.call(observer, fact);
      } catch (error) {
        // Once: an observer that is broken would else write a line for every job.
        if (!hasFailed) logger.warn({ err: error }, 'An observer of the engine failed. Its metrics may be incomplete.');
        hasFailed = true;
      }
    };
  return {
    ...(observer.inserted && { inserted: told(observer.inserted) }),
    ...(observer.claimed && { claimed: told(observer.claimed) }),
    ...(observer.changed && { changed: told(observer.changed) }),
    ...(observer.extended && { extended: told(observer.extended) }),
    ...(observer.swept && { swept: told(observer.swept) }),
  };
}
