import type { Clock } from '../clock.ts';
import type { EventFilter, EventLog } from '../store/event-log.ts';
import type { FollowQuery } from '../waybill.ts';
import type { LoggedEvent } from './job-event.ts';
import type { LiveFeed } from './live-feed.ts';
import type { Tailer } from './tailer.ts';

const PAGE = 500;

/** Before the log is asked again for a place that it has not come to, and before a follower reads on without its feed. */
const PATIENCE_MS = 250;

interface FollowParts {
  /** As it is stored. */
  log: EventLog;
  tailer: Tailer;
  clock: Clock;
  /** Gets what is kept outside of the log, for those who get the event. */
  open(event: LoggedEvent): Promise<LoggedEvent>;
}

/**
 * History behind the cursor first, then live. The follower joins the tailer, reads by itself up to the place where its
 * feed begins, and goes on with the feed: every event is on one side of that place. The caller pulls; one that is so
 * slow that its feed lapses reads on by itself from where it is, and joins again.
 */
export async function* follow(parts: FollowParts, query: FollowQuery): AsyncGenerator<LoggedEvent> {
  const { tailer, open, clock } = parts;
  const { signal, onMissed } = query;
  const filter = { tenant: '', ...query.filter };
  let { after } = query;
  while (!signal.aborted) {
    const feed = tailer.join(filter, query.onPlace);
    // Also while the caller rests at an event: nobody may ever come back for the next one.
    const end = () => {
      feed.end();
      tailer.leave(feed);
    };
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    try {
      const history = upTo(parts, feed, { after, filter, onMissed });
      let read = await history.next();
      for (; !read.done; read = await history.next()) {
        if (signal.aborted) return;
        after = read.value.cursor;
        yield await open(read.value);
      }
      after = read.value.cursor;
      if (!read.value.isThere) {
        await clock.sleep(PATIENCE_MS, signal);
        continue;
      }
      for (let fed = await feed.take(); fed !== 'lapsed'; fed = await feed.take()) {
        if (fed === 'over') return;
        if (fed.missed) onMissed?.();
        for (const event of fed.events) {
          if (signal.aborted) return;
          after = event.cursor;
          yield await open(event);
        }
      }
    } finally {
      signal.removeEventListener('abort', end);
      tailer.leave(feed);
    }
  }
}

interface History {
  after: string | undefined;
  filter: EventFilter;
  onMissed: (() => void) | undefined;
}

/** Everything before the feed; answers where that ended, and whether the feed can be gone on with. */
async function* upTo({ log, clock }: FollowParts, feed: LiveFeed, history: History) {
  const { filter, onMissed } = history;
  let { after } = history;
  let patienceMs = PATIENCE_MS;
  for (;;) {
    const until = await markWithin(feed, clock, patienceMs);
    if (until === undefined) return { cursor: after, isThere: false };
    // While the tailer lags behind, the follower reads on by itself, and may then be further than its feed.
    const bound = until === 'late' ? {} : { until };
    const page = await log.read({ limit: PAGE, filter, ...bound, ...(after !== undefined && { after }) });
    if (page.missed) onMissed?.();
    yield* page.events;
    const isStuck = !page.atEnd && page.cursor === after;
    after = page.cursor;
    patienceMs = page.atEnd ? PATIENCE_MS : 0;
    if (until === 'late') continue;
    if (page.atEnd) return { cursor: after, isThere: true };
    // The reader is further than the feed, or something before its begin is still being written.
    if (isStuck) return { cursor: after, isThere: false };
  }
}

/** Where the feed begins; undefined: it was ended before that. */
async function markWithin(feed: LiveFeed, clock: Clock, ms: number): Promise<string | 'late' | undefined> {
  if (feed.isLive) return feed.mark();
  const enough = new AbortController();
  try {
    return await Promise.race([feed.mark(), clock.sleep(ms, enough.signal).then(() => 'late' as const)]);
  } finally {
    enough.abort();
  }
}
