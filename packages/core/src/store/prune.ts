/** Removes what is older than the retention says. Never a job that still lives. */
export interface PruneRequest {
  /** Finished jobs outside the dead-letter set that ended before this. */
  finishedBefore: number;
  /** Dead letters that ended before this. */
  deadBefore: number;
  /** Events written before this. */
  eventsBefore: number;
  /** Rows removed by one call at most, so that a backlog never makes one long transaction. */
  limit: number;
}

export interface PruneAnswer {
  jobs: number;
  events: number;
  /** More is left to remove. */
  more: boolean;
}
