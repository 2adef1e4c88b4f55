import type { JournalPlace, JournalStore } from '../store/journal.ts';
import type { JobKey } from '../store/query.ts';
import type { JournalEntry } from './entry.ts';
import type { Followers } from './followers.ts';
import { isBehind, readOn, type Wanted, wants } from './reader.ts';
import type { EndedState } from './topic.ts';

interface FollowParts {
  journal: JournalStore;
  followers: Followers;
}

export interface FollowedJournal {
  place: JournalPlace;
  wanted: Wanted;
  signal: AbortSignal;
  onMissed?: (() => void) | undefined;
  /** All that was there has been read. */
  onLive?: (() => void) | undefined;
  /** Whether nothing more will come. Aborted when the answer may be another one. */
  isOver(): boolean;
  over: AbortSignal;
  /** The row of the job shows that it has ended, or there is no row. `isOver` may have another answer then. */
  onEnded(state: EndedState): void;
}

/**
 * What there is first, then live. The follower reads by itself to the end, and joins the topic of the job where it
 * stands: in the same turn, so that every entry comes by one of the two ways. One that is so slow that its feed lapses
 * reads on by itself from where it is.
 */
export async function* followJournal(
  { journal, followers }: FollowParts,
  key: JobKey,
  { place: start, wanted, signal, onMissed, onLive, isOver, over, onEnded }: FollowedJournal,
): AsyncGenerator<JournalEntry> {
  let place = start;
  let isLive = false;
  while (!signal.aborted) {
    // Asked before the read: what came before the end is in what is read after it.
    const isLast = isOver();
    const reached = followers.reachedOf(key);
    const passage = await readOn(journal, key, place, wanted);
    if (passage.missed) onMissed?.();
    ({ place } = passage);
    for (const entry of passage.entries) {
      if (signal.aborted) return;
      yield entry;
    }
    if (passage.more) continue;
    if (isLast) return;
    if (isOver()) continue;
    // The read began behind it: what is not wanted was passed over, and would else be looked at again for ever.
    if (reached && !isBehind(place, reached.run, reached.sequence)) place = reached;
    const wakeUp = Promise.withResolvers<void>();
    let wake = wakeUp.resolve;
    const topic = followers.topicOf(key);
    const feed = topic.join(place, { onEntries: () => wake(), onEnded });
    if (!feed) continue;
    if (!isLive) onLive?.();
    isLive = true;
    let woken = wakeUp.promise;
    const stop = () => wake();
    signal.addEventListener('abort', stop, { once: true });
    over.addEventListener('abort', stop, { once: true });
    try {
      for (;;) {
        if (signal.aborted) return;
        const entries = feed.take();
        if (entries === undefined) break;
        for (const entry of entries) {
          place = { run: entry.run, sequence: entry.sequence };
          if (signal.aborted) return;
          if (wants(wanted, entry)) yield entry;
        }
        if (entries.length > 0) continue;
        if (isOver()) break;
        await woken;
        ({ promise: woken, resolve: wake } = Promise.withResolvers<void>());
      }
    } finally {
      signal.removeEventListener('abort', stop);
      over.removeEventListener('abort', stop);
      topic.leave(feed);
    }
  }
}
