import type { EventType, LoggedEvent } from '../events/job-event.ts';
import type { EventLog } from '../store/event-log.ts';
import { lineOf } from './event-id.ts';
import type { ParkedLine, Sink } from './sink.ts';

const PAGE = 100;
/** Pages without an event of the line that are looked through at once; only lines of jobs are found by an index. */
const MOST_PAGES = 50;
const JOB = 'job:';

export interface LineEvents {
  events: LoggedEvent[];
  /** Goes on behind everything looked at. */
  after: string | null;
  /** There is nothing more of the line in the log. */
  isEnd: boolean;
}

/** The next events of one line for a sink, from the place where the line is parked. */
export async function readLine(
  log: Pick<EventLog, 'read'>,
  { tenant, filter }: Sink,
  { line, after: from }: Pick<ParkedLine, 'line' | 'after'>,
): Promise<LineEvents> {
  const { types, queues, jobTypes } = filter;
  const asked = {
    ...{ tenant, ...(types && { types: types as readonly EventType[] }), ...(queues && { queues }) },
    ...(line.startsWith(JOB) && { jobIds: [line.slice(JOB.length)] }),
  };
  let after = from;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = await log.read({ filter: asked, limit: PAGE, ...(after !== null && { after }) });
    const events = page.events.filter(
      (event) =>
        lineOf(event) === line && (!jobTypes || (event.jobType !== undefined && jobTypes.includes(event.jobType))),
    );
    after = page.cursor;
    if (events.length > 0 || page.atEnd) return { events, after, isEnd: page.atEnd && events.length === 0 };
  }
  return { events: [], after, isEnd: false };
}
