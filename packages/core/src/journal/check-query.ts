import { checkNames, checkPrintable } from '../check.ts';
import { invalidField } from '../errors.ts';
import type { FollowJobQuery, JournalReadQuery } from '../waybill.ts';
import type { Wanted } from './reader.ts';

const MOST_TYPES = 100;

const FILTERS: Readonly<Record<Exclude<keyof JournalReadQuery, 'limit'>, true>> = {
  ...{ tenant: true, run: true, fromSequence: true, fromTime: true, types: true, cursor: true },
};
const READS = [...Object.keys(FILTERS), 'limit'];
const FOLLOWS = [...Object.keys(FILTERS), 'lifecycle', 'stay', 'signal', 'onMissed', 'onLive'];

/** Which entries a page shall have; refused where a field is misspelt or of a wrong type. */
export const wantedByReader = (query: JournalReadQuery): Wanted => wantedOf('jobs.journal()', query, READS);

/** Which entries a follower wants, likewise. */
export function wantedByFollower(query: FollowJobQuery): Wanted {
  const wanted = wantedOf('jobs.follow()', query, FOLLOWS);
  const { signal, lifecycle, stay } = query;
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalidField('signal', 'must be an AbortSignal.');
  for (const [field, value] of Object.entries({ lifecycle, stay }))
    if (value !== undefined && typeof value !== 'boolean') throw invalidField(field, 'must be true or false.');
  return wanted;
}

function wantedOf(call: string, query: JournalReadQuery | FollowJobQuery, names: readonly string[]): Wanted {
  checkNames(call, query, names);
  const { run, fromSequence, fromTime, types } = query;
  checkCount('run', run, 1);
  checkCount('fromSequence', fromSequence, 0);
  checkCount('fromTime', fromTime, 0, 'in milliseconds since 1970');
  if (types === undefined || types.length === 0) return { run, fromSequence, fromTime };
  if (!Array.isArray(types) || types.length > MOST_TYPES || !types.every((type) => typeof type === 'string'))
    throw invalidField('types', `must be a list of at most ${MOST_TYPES} names.`);
  for (const type of types) checkPrintable('types', type);
  return { run, fromSequence, fromTime, types };
}

function checkCount(field: string, value: unknown, min: number, unit?: string): void {
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= min)) return;
  throw invalidField(field, `must be an integer from ${min} on${unit ? `, ${unit}` : ''}.`);
}
