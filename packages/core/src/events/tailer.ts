import type { Clock } from '../clock.ts';
import type { EventFilter, EventLog, EventPage } from '../store/event-log.ts';
import type { LoggedEvent } from './job-event.ts';
import { jointFilter } from './joint-filter.ts';
import { LiveFeed } from './live-feed.ts';
import { Signal } from './signal.ts';

const PAGE = 500;

/** Other processes' events are found this late at most. */
const LOOK_EVERY_MS = 250;

/** How often followers without events of their own are told how far the log was read for them. */
const TELL_PLACE_EVERY_MS = 5_000;

interface TailerParts {
  /** As it is stored: payloads are opened by those who get the event. */
  log: EventLog;
  clock: Clock;
}

/** Told now and then where a follower stands, so that it can resume there. */
export type TellPlace = (cursor: string) => void;

/**
 * The one reader of the log's end in this process. It reads while somebody follows, asks the store only for what one of
 * the followers may want, and gives each its share. However many follow, the store is asked once.
 */
export class Tailer {
  readonly #parts: TailerParts;
  readonly #woken = new Signal();
  readonly #feeds = new Map<LiveFeed, TellPlace | undefined>();
  /** Those who follow given jobs are found by the job; the others look at every event. */
  readonly #byJob = new Map<string, Set<LiveFeed>>();
  readonly #others = new Set<LiveFeed>();
  #filter: EventFilter | undefined;
  #isRunning = false;

  constructor(parts: TailerParts) {
    this.#parts = parts;
  }

  /** There is more to read. Costs nothing while nobody follows. */
  ring(): void {
    this.#woken.ring();
  }

  /** A feed that begins with the next look at the log's end, which is later than this call. */
  join(filter: EventFilter, tellPlace?: TellPlace): LiveFeed {
    const feed = new LiveFeed(filter);
    this.#feeds.set(feed, tellPlace);
    for (const set of this.#placesOf(feed)) set.add(feed);
    this.#filter = undefined;
    if (this.#isRunning) this.#woken.ring();
    else void this.#run();
    return feed;
  }

  leave(feed: LiveFeed): void {
    this.#feeds.delete(feed);
    this.#others.delete(feed);
    for (const id of feed.filter.jobIds ?? []) {
      const same = this.#byJob.get(id);
      same?.delete(feed);
      if (same?.size === 0) this.#byJob.delete(id);
    }
    this.#filter = undefined;
    if (this.#feeds.size === 0) this.#woken.ring();
  }

  #placesOf({ filter }: LiveFeed): Set<LiveFeed>[] {
    if (filter.jobIds === undefined) return [this.#others];
    return filter.jobIds.map((id) => {
      const known = this.#byJob.get(id) ?? new Set();
      this.#byJob.set(id, known);
      return known;
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      await this.#follow();
    } catch (error) {
      for (const feed of [...this.#feeds.keys()]) {
        this.leave(feed);
        feed.fail(error);
      }
    } finally {
      this.#isRunning = false;
    }
    // Whoever joined while the last one left.
    if (this.#feeds.size > 0) void this.#run();
  }

  async #follow(): Promise<void> {
    const { log, clock } = this.#parts;
    let cursor: string | undefined;
    let toldAt = clock.monotonic();
    while (this.#feeds.size > 0) {
      const woken = this.#woken.next();
      // Only these: a place that is asked for later may lie behind what is read now.
      const joining = [...this.#feeds.keys()].filter((feed) => !feed.isLive);
      let atEnd = true;
      if (cursor === undefined) cursor = await log.end();
      else {
        const page = await this.#read(cursor);
        ({ cursor, atEnd } = page);
        if (page.missed) for (const feed of this.#feeds.keys()) feed.miss();
        for (const event of page.events) this.#deliver(event);
      }
      if (!atEnd) continue;
      for (const feed of joining) feed.begin(cursor);
      if (clock.monotonic() - toldAt >= TELL_PLACE_EVERY_MS) {
        toldAt = clock.monotonic();
        for (const [feed, tellPlace] of this.#feeds) if (feed.isIdle) tellPlace?.(cursor);
      }
      await clock.sleep(LOOK_EVERY_MS, woken);
    }
  }

  async #read(after: string): Promise<EventPage> {
    this.#filter ??= jointFilter([...this.#feeds.keys()].map(({ filter }) => filter));
    const { jobIds, ...wider } = this.#filter;
    const query = { after, limit: PAGE };
    if (jobIds === undefined) return this.#parts.log.read({ ...query, filter: wider });
    try {
      return await this.#parts.log.read({ ...query, filter: this.#filter });
    } catch {
      // An id that the store cannot be asked for is the fault of one follower; the others go on.
      return this.#parts.log.read({ ...query, filter: wider });
    }
  }

  #deliver(event: LoggedEvent): void {
    for (const feed of this.#others) feed.push(event);
    if (event.jobId === undefined) return;
    for (const feed of this.#byJob.get(event.jobId) ?? []) feed.push(event);
  }
}
