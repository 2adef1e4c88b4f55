import type { Database } from './database.ts';
import type { Locks } from './locks.ts';
import type { LogWriter } from './log-writer.ts';
import type { MarkTrimmer } from './mark-trimmer.ts';
import type { OrphanWatch } from './orphan-watch.ts';
import type { QueueBook } from './queue-book.ts';
import type { Settings } from './settings.ts';
import type { Wakes } from './wakes.ts';

/** What every verb works with. */
export interface Base {
  db: Database;
  settings: Settings;
  log: LogWriter;
  orphans: OrphanWatch;
  marks: MarkTrimmer;
  locks: Locks;
  wakes: Wakes;
  queues: QueueBook;
  /** See finish-batch.ts. It is handed in because it reads rows, and readers of rows call it. */
  finishBatch(batch: string): Promise<boolean>;
}
