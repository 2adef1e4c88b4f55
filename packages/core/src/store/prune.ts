/** How long what is over is kept, counted from its end. */
export interface Retention {
  /** Finished jobs outside the dead-letter set. */
  finishedMs: number;
  /** Dead letters. */
  deadMs: number;
  eventsMs: number;
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
   * Rows removed by one call at most, so that a backlog never makes one long transaction. What a store can drop as a
   * whole does not count.
   */
  limit: number;
}

export interface PruneAnswer {
  jobs: number;
  events: number;
  /** More is left to remove. */
  more: boolean;
}
