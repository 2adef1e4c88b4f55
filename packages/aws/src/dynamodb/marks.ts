import { absent, all, any, type Condition, less } from './conditions.ts';
import { type Item, number } from './items.ts';

/** What a row carries to prove that an event of it is true: the place of its change in the log. */
export const markOf = (position: number, index: number): string => `${position.toString(36)}.${index.toString(36)}`;

/** The mark of a change without events, of which the log knows nothing. */
export const unloggedMark = (random: string): string => `-${random}`;

export const marksOf = (row: Item | undefined): readonly string[] =>
  (row?.['ev'] as readonly string[] | undefined) ?? [];

/**
 * The marks of a row after a change of it. A writer never drops one, because a reader that comes hours later may still have
 * to decide by it: see mark-trimmer.ts.
 */
export const withMarks = (row: Item | undefined, marks: readonly string[]): readonly string[] => [
  ...marksOf(row),
  ...marks,
];

export const hasMark = (row: Item | undefined, mark: string): boolean => marksOf(row).includes(mark);

/**
 * The fence of a row, a position in the log. A reader that finds a change there without its mark in the row calls the
 * change lost, and raises the fence in the same write that makes sure of it. Changes from positions up to the fence are
 * refused from then on, so a writer that was paused, or a request that was delayed, cannot make the reader wrong.
 */
export const FENCE = 'fn';

/** A base-36 number ends where the dot begins. */
export const positionOf = (mark: string): number | null => (mark.startsWith('-') ? null : Number.parseInt(mark, 36));

export const isBelow = (position: number): Condition => any(absent(FENCE), less(FENCE, position));

/** The condition of a row's write, refused also if a reader has called this change lost. It costs no capacity. */
export function unlessFenced(mark: string, condition: Condition): Condition {
  const position = positionOf(mark);
  return position === null ? condition : all(condition, isBelow(position));
}

/** Whether a reader has called the change lost. */
export const isFenced = (row: Item | undefined, mark: string): boolean =>
  ((row && number(row, FENCE)) ?? 0) >= (positionOf(mark) ?? Number.POSITIVE_INFINITY);
