import type { RecordRow, RowPage, RowQuery } from '@waybill/core';

/** A row of the table `records`, column by column, as all statements answer it. */
export type RecordCells = [
  tenant: string,
  kind: string,
  id: string,
  version: number,
  value: string,
  createdAt: number,
  updatedAt: number,
  expiresAt: number | null,
];

export function recordOf(cells: RecordCells): RecordRow {
  const [tenant, kind, id, version, json, createdAt, updatedAt, expiresAt] = cells;
  return { tenant, kind, id, version, json, createdAt, updatedAt, expiresAt };
}

/** Of one row more than the page has, which tells whether there is more. */
export function pageOf(found: readonly RecordCells[], limit: number): RowPage {
  const rows = found.slice(0, limit).map(recordOf);
  return { rows, last: found.length > limit ? rows.at(-1)!.id : null };
}

/** Sorts behind every id: an id has at most 512 bytes, and this has 516 of the highest. */
const END = '\u{10ffff}'.repeat(129);

/**
 * The ids of a query as one range, from the first up to but not including the second, so that one look into an index finds
 * them. Ids have no control characters, so none lies between an id and the same with U+0001 behind it.
 */
export function rangeOf({ prefix, after }: Pick<RowQuery, 'prefix' | 'after'>): [from: string, to: string] {
  return [after === null ? prefix : `${after}\u0001`, behind(prefix)];
}

const HIGHEST = 0x10ffff;
const FIRST_SURROGATE = 0xd800;
const BEHIND_SURROGATES = 0xe000;

/** The lowest text that sorts behind everything with this prefix. Bytes of UTF-8 sort as code points do. */
function behind(prefix: string): string {
  const points = Array.from(prefix, (character) => character.codePointAt(0)!);
  while (points.at(-1) === HIGHEST) points.pop();
  const last = points.pop();
  if (last === undefined) return END;
  const next = last + 1 === FIRST_SURROGATE ? BEHIND_SURROGATES : last + 1;
  return String.fromCodePoint(...points, next);
}
