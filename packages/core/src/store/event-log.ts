import type { EventType, LoggedEvent } from '../events/job-event.ts';
import type { Told } from '../events/subject-event.ts';

/** Said where all tenants are meant; an absent tenant never means them. */
export const ALL_TENANTS = '*';

/** Jobs that a store looks for by itself; the events of more of them are sorted out after they were read. */
export const MOST_JOBS_SOUGHT = 16;

/** Every field narrows; of the optional ones an absent one does not. */
export interface EventFilter {
  /** Or `ALL_TENANTS`. */
  tenant: string;
  types?: readonly EventType[];
  /** Events of their jobs and of the queues themselves. */
  queues?: readonly string[];
  /** Events of these jobs, and what else their changes tell. */
  jobIds?: readonly string[];
}

export interface EventQuery {
  /** Opaque; absent: from the oldest event kept. */
  after?: string;
  /**
   * Leaves out what a reader with this cursor has yet to read, so that a reader can hand over to another one exactly. Only
   * a cursor that `end` or a page with `atEnd` has answered.
   */
  until?: string;
  filter: EventFilter;
  limit: number;
}

export interface EventPage {
  events: LoggedEvent[];
  /** Continues behind everything looked at, also when the filter let nothing through. */
  cursor: string;
  /**
   * Whether the end of the log was reached; if not, ask again at once. With `until`: whether that place was reached; false
   * without events where `after` lies behind it.
   */
  atEnd: boolean;
  /** Events behind the cursor were pruned before they were read. */
  missed: boolean;
}

/**
 * The log of everything that happened, written in the transaction of the change. Ordered and gap-free per subject (a
 * job, a queue, a cron, ..) and source, each event once; between subjects roughly by time. Whoever reads the log after a call has answered finds the
 * call's events in it, at most `capabilities.eventLagMs` later.
 */
export interface EventLog {
  read(query: EventQuery): Promise<EventPage>;
  /** A cursor behind the newest event. */
  end(): Promise<string>;
  /** Facts that are about no change of a row. */
  tell(told: readonly Told[]): Promise<void>;
}
