import type { RunFence } from '../job/progress.ts';
import type { JobKey } from './query.ts';

/** The place before the first entry of a run: 0 is a sequence that a client may begin with. */
export const BEFORE_ALL = -1;

/** Several entries of one run as they are stored: one row. Stores know nothing of what is in the body. */
export interface JournalBatch {
  run: number;
  /**
   * The last sequence of the batch before it in the same run, `BEFORE_ALL` for the first. The batches of a run are a chain:
   * each place has one successor at most, so no two writers can put different entries into the same place.
   */
  after: number;
  first: number;
  last: number;
  /** Of the oldest and of the newest entry, which need not be the first and the last. */
  firstAt: number;
  lastAt: number;
  storedAt: number;
  /** The types of its entries, each once. */
  types: readonly string[];
  body: Uint8Array;
}

export interface AppendRequest extends JobKey {
  by: RunFence;
  batch: Omit<JournalBatch, 'run' | 'after' | 'storedAt'>;
  /** What the batch adds to the weight of the job's journal, all runs together. */
  weight: number;
  /** Nothing is stored that would make the journal heavier than this. Absent: it has no bound. */
  atMost?: number;
  now: number;
}

export type AppendAnswer =
  | { status: 'stored'; run: number; weight: number }
  /** The run has come to `head`, and the batch begins at or before it. Nothing was written. */
  | { status: 'behind'; run: number; head: number }
  /** It would be heavier than `atMost`. Nothing was written. */
  | { status: 'full'; run: number; head: number; weight: number }
  /** The run of the fence is not active, or is another's. Nothing was written. */
  | { status: 'lost' };

/** A place in a job's journal: behind this entry of this run. */
export interface JournalPlace {
  run: number;
  sequence: number;
}

/** Every field narrows; of the optional ones an absent one does not. */
export interface JournalQuery extends JobKey {
  run?: number;
  /** Only batches with an entry behind this place: of this run with a later sequence, or of a later run. */
  after?: JournalPlace;
  /** Only batches with an entry of this time or later. */
  fromAt?: number;
  /** Only batches with an entry of one of these types. */
  types?: readonly string[];
  /** Batches, 1 to 1000. */
  limit: number;
  /** Bytes of bodies; the first batch is answered whatever its size. */
  maxBytes: number;
}

export interface JournalPage {
  /** By run, and in a run by sequence. */
  batches: JournalBatch[];
  /** There may be more behind the last one: ask again at once. */
  more: boolean;
}

/** Called when journals of these jobs may have grown; a hint, never a promise. No ids means: of any job. */
export type GrownListener = (ids?: readonly string[]) => void;

/**
 * Entries of runs, apart from their jobs' rows: neither version nor lease moves. A journal is kept for as long
 * as retention says, and never longer than its job.
 */
export interface JournalStore {
  /**
   * Each is stored as a whole or not at all, if its run is active and has not come to `first` yet. Several of one run
   * happen in the order given. After an unknown outcome the same call may be made again, and is answered `behind`.
   */
  append(requests: readonly AppendRequest[]): Promise<AppendAnswer[]>;
  read(query: JournalQuery): Promise<JournalPage>;
  /** Listens from now on, until the returned function is called. Writes of other processes call it too, where the store can notice them. */
  onGrown(listener: GrownListener): () => void;
}
