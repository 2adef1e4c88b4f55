import type { EventType, LoggedEvent } from '../events/job-event.ts';
import type { EventLog } from '../store/event-log.ts';
import { jobInLine, linesOf, tenantOf } from './event-id.ts';
import type { ParkedLine, Sink } from './sink.ts';

const PAGE = 100;
/** Pages without an event of the line that are looked through at once; only lines of jobs are found by an index. */
const MOST_PAGES = 50;

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
  sink: Sink,
  { line, after: from }: Pick<ParkedLine, 'line' | 'after'>,
): Promise<LineEvents> {
  const { types, queues, jobTypes } = sink.filter;
  const [lineOf, jobId] = [linesOf(sink), jobInLine(line)];
  const asked = {
    ...{ tenant: tenantOf(sink), ...(types && { types: types as readonly EventType[] }), ...(queues && { queues }) },
    ...(jobId !== undefined && { jobIds: [jobId] }),
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
