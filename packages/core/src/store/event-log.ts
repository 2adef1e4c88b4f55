import type { JobEventType, LoggedEvent } from '../events/job-event.ts';

export interface EventFilter {
  tenant?: string;
  types?: readonly JobEventType[];
  queues?: readonly string[];
  jobIds?: readonly string[];
}

export interface EventQuery {
  /** Opaque; absent: from the oldest event kept. */
  after?: string;
  filter?: EventFilter;
  limit: number;
}

export interface EventPage {
  events: LoggedEvent[];
  /** Continues behind everything looked at, also when the filter let nothing through. */
  cursor: string;
  /** Whether the end of the log was reached; if not, ask again at once. */
  atEnd: boolean;
  /** Events behind the cursor were pruned before they were read. */
  missed: boolean;
}

/**
 * The log of everything that happened, written in the transaction of the change. Ordered and gap-free per job and
 * source, each event once; between jobs roughly by time. Whoever reads the log after a call has answered finds the
 * call's events in it, at most `capabilities.eventLagMs` later.
 */
export interface EventLog {
  read(query: EventQuery): Promise<EventPage>;
  /** A cursor behind the newest event. */
  end(): Promise<string>;
}
