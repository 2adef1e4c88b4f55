import { invalidField } from '../errors.ts';
import type { JournalPlace } from '../store/journal.ts';
import { START } from './reader.ts';

/** How far a follower of a job has read: its journal, and the log where that is followed, too. */
export interface Position {
  place: JournalPlace;
  event?: string | undefined;
}

const CURSOR = /^(\d{1,9})\.(-1|\d{1,16})(?:~(.+))?$/s;

export function writePosition({ place: { run, sequence }, event }: Position): string {
  return event === undefined ? `${run}.${sequence}` : `${run}.${sequence}~${event}`;
}

export function readPosition(cursor: string | undefined): Position {
  if (cursor === undefined) return { place: START };
  const match = typeof cursor === 'string' ? CURSOR.exec(cursor) : null;
  if (!match) throw invalidField('cursor', 'must be one that an entry or a page of this job has answered.');
  const [, run, sequence, event] = match;
  return { place: { run: Number(run), sequence: Number(sequence) }, event };
}
