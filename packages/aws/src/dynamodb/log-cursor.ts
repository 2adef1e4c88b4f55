import { type LogEvent, type LoggedEvent, WaybillError } from '@waybill/core';

/** The next event to look at: the segment, and the place among its events. Text outside, where it is a cursor. */
export interface Position {
  segment: number;
  index: number;
}

export const startOf = (segment: number): Position => ({ segment, index: 0 });

/** Below 0: `a` comes first; 0: they are the same place. */
export const comparePositions = (a: Position, b: Position): number => a.segment - b.segment || a.index - b.index;

export const formatCursor = ({ segment, index }: Position): string =>
  index === 0 ? `${segment}` : `${segment}.${index}`;

const CURSOR = /^([0-9]{1,15})(?:\.([0-9]{1,9}))?$/;

export function parseCursor(cursor: string): Position {
  const match = CURSOR.exec(cursor);
  if (!match) throw new WaybillError('invalid_request', 'The event cursor was not made by this store.');
  return { segment: Number(match[1]), index: Number(match[2] ?? 0) };
}

/** Right behind an event of a segment with so many; behind the last one the next segment begins. */
export const positionBehind = (segment: number, index: number, events: number): Position =>
  index === events - 1 ? startOf(segment + 1) : { segment, index: index + 1 };

export const withCursors = (events: readonly LogEvent[], segment: number): LoggedEvent[] =>
  events.map((event, index) => ({
    ...event,
    cursor: formatCursor(positionBehind(segment, index, events.length)),
  }));
