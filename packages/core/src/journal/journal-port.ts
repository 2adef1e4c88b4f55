import type { LoggedEvent } from '../events/job-event.ts';
import type { Fence } from '../job/progress.ts';
import type { JournalEntry, NewEntry } from './entry.ts';

interface InTenant {
  tenant?: string;
}

/** Without a fence, the call is for the active run. */
export interface AppendCall extends InTenant, Fence {
  id: string;
  /** 1 to 10,000, by growing sequence. */
  entries: readonly NewEntry[];
}

export interface Appended {
  run: number;
  /** Entries that were stored now; those that were stored before do not count. */
  stored: number;
  /** The newest sequence of the run that is stored; null where there is none. */
  head: number | null;
  /** Entries that were not kept, because the journal of the job has its full size. An entry of the journal says so, too. */
  cut: number;
}

/** Every field narrows; an absent one does not. */
interface JournalFilter extends InTenant {
  run?: number;
  /** Only entries with this sequence or a later one, in every run. */
  fromSequence?: number;
  /** Only entries of this time or a later one. */
  fromTime?: number;
  types?: readonly string[];
  /** Only what comes behind the item with this cursor. */
  cursor?: string;
}

export interface JournalReadQuery extends JournalFilter {
  /** 1 to 1,000. @defaultValue 1,000 */
  limit?: number;
}

export interface JournalEntries {
  entries: JournalEntry[];
  /** Goes on behind everything that was looked at. */
  cursor: string;
  /** Whether the end was reached, as it was then. */
  atEnd: boolean;
  /** Entries were pruned before they could be read. */
  missed: boolean;
}

export interface FollowJobQuery extends JournalFilter {
  /** Also what happens to the job: its events in the log. @defaultValue false */
  lifecycle?: boolean;
  /** Goes on after the end of the job, which may be run again. @defaultValue false */
  stay?: boolean;
  /** Ends the stream. @defaultValue it ends with the job, or with the connection */
  signal?: AbortSignal;
  /** Entries were pruned before they could be read. Called before the next one that is still there. */
  onMissed?(): void;
  /**
   * Called once, when the reader has taken all that was there, with `lifecycle` the events too: what follows comes as it happens.
   * Not called where the job had ended before.
   */
  onLive?(): void;
}

/** An entry of a run, or an event of its job. */
export type FollowedItem =
  | { kind: 'entry'; cursor: string; entry: JournalEntry }
  | { kind: 'event'; cursor: string; event: LoggedEvent };
