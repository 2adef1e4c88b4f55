import { WaybillError } from '../../errors.ts';
import type { Told } from '../../events/subject-event.ts';
import type { EventPage, EventQuery } from '../event-log.ts';
import { eventMatches } from '../filters.ts';
import type { MemoryState } from './state.ts';

export function readEvents(state: MemoryState, { after, until, filter, limit }: EventQuery): EventPage {
  const given = after === undefined ? 0 : readCursor(after);
  // A place that no reader of this log can have reached: another log was here before.
  const isForeign = given > state.lastPosition;
  const position = isForeign ? 0 : given;
  const last = until === undefined ? state.lastPosition : readCursor(until);
  if (until !== undefined && position > last) return { events: [], cursor: after!, atEnd: false, missed: false };
  const rest = state.log.filter((entry) => entry.position > position && entry.position <= last);
  const found = rest.filter(({ event }) => eventMatches(event, filter));
  const events = found.slice(0, limit).map(({ position, event }) => ({ ...event, cursor: String(position) }));
  // Whether the filter would have let them through, nobody can tell any more.
  const missed = isForeign || (after !== undefined && state.prunedPosition > position);
  if (found.length > limit) return { events, cursor: events.at(-1)?.cursor ?? String(position), atEnd: false, missed };
  return { events, cursor: String(Math.max(position, last)), atEnd: true, missed };
}

export function tell(state: MemoryState, told: readonly Told[]): void {
  for (const one of told) state.tellOf(one);
}

export const endOfLog = (state: MemoryState): string => String(state.lastPosition);

function readCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new WaybillError('invalid_request', 'The cursor was not made by this store.');
}
