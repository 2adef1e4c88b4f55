import type { Screen } from './table.ts';

/** The part of an id that is its time; jobs of different milliseconds differ in it. */
const SHORTEST = 13;

/**
 * How ids are shown: at a terminal as prefixes of one length, long enough to differ from each other, since every command
 * takes the begin of an id. Elsewhere whole.
 */
export function shortIds(ids: readonly string[], { width }: Pick<Screen, 'width'>): (id: string) => string {
  if (width === Number.POSITIVE_INFINITY) return (id) => id;
  const sorted = [...new Set(ids)].sort();
  const shared = sorted.reduce((most, id, index) => Math.max(most, sharedBy(id, sorted[index - 1] ?? '')), 0);
  return (id) => prefixOf(id, Math.max(SHORTEST, shared + 1));
}

/** For lines that come one by one: time and counter, which no two ids of one process share. */
export const idPrefix = (id: string, { width }: Pick<Screen, 'width'>): string =>
  width === Number.POSITIVE_INFINITY ? id : prefixOf(id, 23);

/** Does not end at a dash, which would look like a missing rest. */
const prefixOf = (id: string, length: number): string => id.slice(0, id[length - 1] === '-' ? length + 1 : length);

function sharedBy(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
