import type { Query } from './prepare.ts';
import { AT, type Cell, type Row } from './rows.ts';

/**
 * Rows of jobs. One number too large for JavaScript fails a whole statement; then it is run again with exact numbers, and
 * the rows that hold such a number become ones that cannot be read, so that they hide no others.
 */
export function jobRows(query: Query, ...parameters: Cell[]): Row[] {
  try {
    return query.all(...parameters);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    return query.allExact(...parameters).map(withNumbers);
  }
}

export const jobRow = (query: Query, ...parameters: Cell[]): Row | undefined => jobRows(query, ...parameters)[0];

const isTooLarge = (error: unknown): boolean => (error as { code?: unknown }).code === 'ERR_OUT_OF_RANGE';

function withNumbers(cells: readonly (Cell | bigint)[]): Row {
  const tooLarge = cells.find((cell) => typeof cell === 'bigint' && !Number.isSafeInteger(Number(cell)));
  const row = cells.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell)) as Row;
  // No JSON, so that whoever decodes the row is told why it cannot be read.
  if (tooLarge !== undefined) row[AT.spec] = `too large a number: ${tooLarge}`;
  return row;
}
