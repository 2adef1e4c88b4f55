import type { Clock } from '../clock.ts';
import { Signal } from '../events/signal.ts';
import type { JournalPlace, JournalStore } from '../store/journal.ts';
import type { JobKey } from '../store/query.ts';
import { entryBytes, type JournalEntry } from './entry.ts';
import { isBehind, readOn } from './reader.ts';

/** What waits for a slow reader; more, and it reads on by itself. */
const MOST_BYTES = 256 * 1_024;
/**
 * How often the row of a followed job is read. The log reports the end of most jobs at once; it does not where the queue
 * keeps nothing, or where the job was deleted.
 */
const ROW_EVERY_MS = 2_500;

/** How long a topic that gets no wake-up waits before it reads: first, and at most. */
export interface Patience {
  firstMs: number;
  mostMs: number;
}

/** What a follower of a topic is called with. Neither may throw. */
export interface FeedListener {
  /** There is something to take. */
  onEntries(): void;
  /** The row was read: the job has ended, or is not there any more. */
  onEnded(state: EndedState): void;
}

export type EndedState = 'finished' | 'deleted';

/** One follower's share of what the topic reads. A slow one never slows the topic: it lapses. */
export class Feed {
  #entries: JournalEntry[] = [];
  #bytes = 0;
  #lapsed = false;
  #failure: { error: unknown } | undefined;
  #place: JournalPlace;
  readonly #listener: FeedListener;

  constructor(place: JournalPlace, listener: FeedListener) {
    this.#place = place;
    this.#listener = listener;
  }

  ended(state: EndedState): void {
    this.#listener.onEnded(state);
  }

  /** `sizes`: the bytes of each entry, measured once for all feeds. */
  push(entries: readonly JournalEntry[], sizes: readonly number[], place: JournalPlace): void {
    // A follower that joins may have come further than the topic.
    const fresh = entries.filter(({ run, sequence }) => !isBehind(this.#place, run, sequence));
    if (isBehind(place, this.#place.run, this.#place.sequence)) this.#place = place;
    if (this.#lapsed || fresh.length === 0) return;
    for (const size of sizes.slice(-fresh.length)) this.#bytes += size;
    if (this.#bytes > MOST_BYTES && this.#entries.length > 0) {
      this.#lapsed = true;
      this.#entries = [];
    } else this.#entries.push(...fresh);
    this.#listener.onEntries();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#listener.onEntries();
  }

  /** What has come since the last call, perhaps nothing; undefined: it was too much, and has to be read. */
  take(): JournalEntry[] | undefined {
    if (this.#failure) throw this.#failure.error;
    if (this.#lapsed) return undefined;
    const entries = this.#entries;
    this.#entries = [];
    this.#bytes = 0;
    return entries;
  }
}

export interface TopicParts {
  journal: JournalStore;
  clock: Clock;
  patience: Patience;
  /** Reads the row. Undefined while entries may still come. */
  endedState(key: JobKey): Promise<EndedState | undefined>;
}

/** The one reader of the end of a job's journal in this process, for as long as it has followers. */
export class Topic {
  readonly #journal: JournalStore;
  readonly #clock: Clock;
  readonly #patience: Patience;
  readonly #key: JobKey;
  readonly #endedState: () => Promise<EndedState | undefined>;
  readonly #onEmpty: () => void;
  readonly #woken = new Signal();
  readonly #feeds = new Set<Feed>();
  #place: JournalPlace | undefined;

  constructor(parts: TopicParts, key: JobKey, onEmpty: () => void) {
    this.#endedState = () => parts.endedState(key);
    this.#journal = parts.journal;
    this.#clock = parts.clock;
    this.#patience = parts.patience;
    this.#key = key;
    this.#onEmpty = onEmpty;
  }

  get key(): JobKey {
    return this.#key;
  }

  /** How far it has read; undefined before the first follower. */
  get place(): JournalPlace | undefined {
    return this.#place;
  }

  ring(): void {
    this.#woken.ring();
  }

  /** Begins behind this place, unless the topic is further already: then read on, and ask again. */
  join(place: JournalPlace, listener: FeedListener): Feed | undefined {
    if (this.#place && !isBehind(place, this.#place.run, this.#place.sequence)) return undefined;
    const feed = new Feed(place, listener);
    this.#feeds.add(feed);
    if (this.#place === undefined) {
      this.#place = place;
      void this.#run();
    }
    return feed;
  }

  leave(feed: Feed): void {
    this.#feeds.delete(feed);
    if (this.#feeds.size === 0) this.#woken.ring();
  }

  async #run(): Promise<void> {
    try {
      await this.#follow();
    } catch (error) {
      this.#onEmpty();
      for (const feed of this.#feeds) feed.fail(error);
      this.#feeds.clear();
    }
  }

  async #follow(): Promise<void> {
    const { firstMs, mostMs } = this.#patience;
    let waitMs = firstMs;
    let rowReadAt = this.#clock.now();
    while (this.#feeds.size > 0) {
      const woken = this.#woken.next();
      const { entries, place, more } = await readOn(this.#journal, this.#key, this.#place!, {});
      this.#place = place;
      const sizes = entries.map(entryBytes);
      for (const feed of this.#feeds) feed.push(entries, sizes, place);
      if (more) continue;
      waitMs = entries.length > 0 ? firstMs : Math.min(mostMs, waitMs * 2);
      await this.#clock.sleep(waitMs, woken);
      const now = this.#clock.now();
      // A clock that was set back must not put the look off.
      if (Math.abs(now - rowReadAt) < ROW_EVERY_MS || this.#feeds.size === 0) continue;
      rowReadAt = now;
      const ended = await this.#endedState();
      if (ended) for (const feed of this.#feeds) feed.ended(ended);
    }
    // In the same turn as the decision: a follower that joined a turn later would join a topic that reads no more.
    this.#onEmpty();
  }
}
