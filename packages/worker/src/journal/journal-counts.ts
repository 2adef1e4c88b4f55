/**
 * Why an entry is not stored: the journal of its job has its full size, too many waited in memory, the disk of the outbox
 * did not take it, the server refused it, its run lost the lease, or no server answered in time.
 */
export type DropReason = 'cut' | 'memory' | 'outbox' | 'refused' | 'lease_lost' | 'given_up';

/** Entries of all runs of a worker. */
export interface JournalCounts {
  stored: number;
  /** Not stored: dropped, refused or given up. */
  dropped: number;
  onDropped?(entries: number, reason: DropReason): void;
}

export function countDropped(counts: JournalCounts, entries: number, reason: DropReason): void {
  if (entries === 0) return;
  counts.dropped += entries;
  counts.onDropped?.(entries, reason);
}
