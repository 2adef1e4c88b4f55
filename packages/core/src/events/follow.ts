import type { Clock } from '../clock.ts';
import type { EventFilter, EventLog } from '../store/event-log.ts';
import type { FollowQuery } from '../waybill.ts';
import type { LoggedEvent } from './job-event.ts';
import type { LiveFeed } from './live-feed.ts';
import type { Tailer } from './tailer.ts';

const PAGE = 500;

/** Before the log is asked again for a place that it has not come to. */
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
    const end = () => feed.end();
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
async function* upTo({ log }: FollowParts, feed: LiveFeed, history: History) {
  const { filter, onMissed } = history;
  let { after } = history;
  const until = await feed.mark();
  while (until !== undefined) {
    const page = await log.read({ limit: PAGE, until, filter, ...(after !== undefined && { after }) });
    if (page.missed) onMissed?.();
    yield* page.events;
    const isStuck = !page.atEnd && page.cursor === after;
    after = page.cursor;
    if (page.atEnd) return { cursor: after, isThere: true };
    // The reader is further than the feed, or something before its begin is still being written.
    if (isStuck) break;
  }
  return { cursor: after, isThere: false };
}
