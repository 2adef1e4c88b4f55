import type { Job } from '../job/job.ts';
import type { EventPage } from '../store/event-log.ts';
import type { JobPage, JobQuery } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import { readReference } from './reference.ts';

/** What one page may fetch from the blob store, whatever its number of rows; a single row may be larger. */
const MOST_BYTES = 32 * 1024 * 1024;

/** How many of these, from the first on, may be fetched together; one at least. */
function fitting(sizes: readonly number[]): number {
  let sum = 0;
  const over = sizes.findIndex((size) => {
    sum += size;
    return sum > MOST_BYTES;
  });
  return over < 0 ? sizes.length : Math.max(1, over);
}

/** Pages may be short, so one whose payloads are too large together is asked for again with fewer rows. */
export async function fittingPage(store: Store, query: JobQuery, bytesOf: (stored: Job) => number): Promise<JobPage> {
  const page = await store.list(query);
  const count = fitting(page.items.map(bytesOf));
  return count === page.items.length ? page : store.list({ ...query, limit: count });
}

/** Every event has a cursor of its own, so a page can end anywhere. */
export function fittingEvents(page: EventPage): EventPage {
  const count = fitting(page.events.map(({ data }) => readReference(data)?.bytes ?? 0));
  if (count === page.events.length) return page;
  const events = page.events.slice(0, count);
  return { ...page, events, cursor: events.at(-1)!.cursor, atEnd: false };
}
