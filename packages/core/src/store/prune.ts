/** How long what is over is kept, counted from its end. */
export interface Retention {
  /** Finished jobs outside the dead-letter set. */
  finishedMs: number;
  /** Dead letters. */
  deadMs: number;
  eventsMs: number;
  /** What runs have said; never longer than their jobs. */
  journalMs: number;
  /** Workers, limits and queues that are no longer used, and the counters of events that go with them. */
  unusedMs: number;
}

/**
 * Removes what is older than the retention says. Never a job that still lives, nor one that ended inside the retention. A
 * node of a workflow counts as ended when the workflow has: until then others need its result, and its state.
 * A store may keep a finished job longer by `capabilities.pruneLagMs`, so as to drop many of them as a whole.
 */
export interface PruneRequest {
  /** Finished jobs outside the dead-letter set that ended before this. */
  finishedBefore: number;
  /** Dead letters that ended before this. */
  deadBefore: number;
  /** Events written before this. */
  eventsBefore: number;
  /**
   * Batches of journals stored before this, but for the newest of an active run. Those of a removed job go with it. Absent:
   * they stay as long as their jobs.
   */
  journalBefore?: number;
  /**
   * Workers that were last seen before this, limits that came with jobs and queues without a setting that were last used
   * before this and that no job needs, and counters of events whose last event is older than this and than `eventsBefore`.
   * Absent: all of them stay.
   */
  unusedBefore?: number;
  /**
   * Rows removed by one call at most, so that a backlog never makes one long transaction. What a store can drop as a
   * whole does not count.
   */
  limit: number;
}

export interface PruneAnswer {
  jobs: number;
  events: number;
  /** Batches of journals whose jobs stay. @defaultValue 0 */
  journal?: number;
  /** More is left to remove. */
  more: boolean;
  /** What could not be removed, and why; the other parts were pruned all the same. Absent where nothing failed. */
  failed?: readonly PruneFailure[];
}

export interface PruneFailure {
  /** What was to be removed, in the plural: `workers`, for example. */
  part: string;
  reason: string;
}
