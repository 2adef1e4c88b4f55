import type { Clock } from '../clock.ts';
import type { Writer } from '../commit/writer.ts';
import { type LoggedEvent, RUN_END_EVENT_TYPES, TERMINAL_EVENT_TYPES } from '../events/job-event.ts';
import { isFinished } from '../job/job.ts';
import type { JournalStore } from '../store/journal.ts';
import type { JobKey } from '../store/query.ts';
import type { Events, FollowedItem, FollowJobQuery } from '../waybill.ts';
import { followJournal } from './follow-journal.ts';
import type { Followers } from './followers.ts';
import { LiveEvents } from './live-events.ts';
import { type Position, readPosition, writePosition } from './place-cursor.ts';
import type { Wanted } from './reader.ts';
import type { EndedState } from './topic.ts';

const PAGE = 500;

interface FollowJobParts {
  journal: JournalStore;
  followers: Followers;
  writer: Writer;
  events: Pick<Events, 'read' | 'end' | 'follow'>;
  store: { clock: Clock };
}

/**
 * A job's journal, and with `lifecycle` what happens to the job, in the order of their times as long as both are history,
 * and as they come from then on. The log reports the end of the job, and the entries of its last run were stored before;
 * where the log does not, the row shows it a little later.
 */
export async function* followJob(
  parts: FollowJobParts,
  id: string,
  query: FollowJobQuery & { wanted: Wanted; signal: AbortSignal },
): AsyncGenerator<FollowedItem> {
  const { tenant = '', lifecycle = false, stay = false, signal, wanted, cursor, onMissed, onLive } = query;
  const key = { tenant, id };
  const isEnd = (state: EndedState | undefined): boolean => state === 'deleted' || (state === 'finished' && !stay);
  const position = readPosition(cursor);
  const left = new AbortController();
  const either = AbortSignal.any([signal, left.signal]);
  const past = await pastEvents(parts.events, key, lifecycle ? position.event : null);
  // Behind the place in the log, so that the log has an end after this read.
  const isOver = !stay && isFinished((await parts.writer.mustRead(key)).state);
  // The job may have ended between the two reads; then nothing follows the log, and it is read to its end here.
  if (isOver && lifecycle) past.events.push(...(await pastEvents(parts.events, key, past.cursor)).events);
  const events = new LiveEvents({
    follow: (after) =>
      parts.events.follow({
        ...{ after, signal: either },
        filter: { tenant, jobIds: [id], ...(!lifecycle && { types: [...TERMINAL_EVENT_TYPES] }) },
      }),
    isOver: async () => isEnd(await endedState(parts.writer, key)),
    after: past.cursor,
    over: isOver,
  });
  let old = past.events;
  let isHistory = true;
  let isLive = false;
  /** Once the journal has been read to its end, and the reader has taken all events of before, too. */
  const tellLive = () => {
    if (isLive || isHistory || old.length > 0) return;
    isLive = true;
    onLive?.();
  };
  const entries = followJournal(parts, key, {
    ...{ place: position.place, wanted, signal: either, onMissed },
    onLive: () => {
      isHistory = false;
      events.nudge();
      tellLive();
    },
    isOver: () => events.isOver,
    over: events.over,
    onEnded: (state) => {
      if (isEnd(state)) events.end();
    },
  });
  try {
    const eventItem = (event: LoggedEvent): FollowedItem => {
      position.event = event.cursor;
      return { kind: 'event', cursor: at(position, lifecycle), event };
    };
    for await (const next of events.beside(entries)) {
      if (signal.aborted) return;
      if (next.kind === 'entry') {
        const { entry } = next;
        for (; old.length > 0 && (!isHistory || precedesEntry(old[0]!, entry.at)); old = old.slice(1))
          yield eventItem(old[0]!);
        tellLive();
        position.place = { run: entry.run, sequence: entry.sequence };
        yield { kind: 'entry', cursor: at(position, lifecycle), entry };
        continue;
      }
      if (isHistory && next.kind === 'live') continue;
      for (; old.length > 0; old = old.slice(1)) yield eventItem(old[0]!);
      tellLive();
      if (next.kind === 'event' && lifecycle) yield eventItem(next.event);
    }
    for (; old.length > 0; old = old.slice(1)) yield eventItem(old[0]!);
    tellLive();
  } finally {
    left.abort();
    await events.stop();
  }
}

/** Whether a job has ended, by its row. A queue that keeps nothing deletes the rows of jobs that complete. */
export async function endedState(writer: Pick<Writer, 'read'>, key: JobKey): Promise<EndedState | undefined> {
  const job = await writer.read(key);
  if (job === null) return 'deleted';
  return isFinished(job.state) ? 'finished' : undefined;
}

/** Whether an event is shown before an entry of this time. An entry of the millisecond in which its run ends comes before the end. */
export const precedesEntry = (event: LoggedEvent, at: number): boolean =>
  event.at < at || (event.at === at && !RUN_END_EVENT_TYPES.has(event.type));

const at = (position: Position, lifecycle: boolean): string =>
  writePosition(lifecycle ? position : { place: position.place });

/** What the log has of the job behind a cursor, and where that ends. Null: nothing of it is wanted. */
async function pastEvents(
  events: FollowJobParts['events'],
  { tenant, id }: JobKey,
  after: string | undefined | null,
): Promise<{ events: LoggedEvent[]; cursor: string }> {
  if (after === null) return { events: [], cursor: await events.end() };
  const found: LoggedEvent[] = [];
  for (let cursor = after; ; ) {
    const filter = { tenant, jobIds: [id] };
    const page = await events.read({ filter, limit: PAGE, ...(cursor !== undefined && { after: cursor }) });
    found.push(...page.events);
    ({ cursor } = page);
    if (page.atEnd) return { events: found, cursor };
  }
}
