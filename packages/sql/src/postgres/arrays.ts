// Columns of many rows as PostgreSQL's array literals. `pg` would quote and escape every element, numbers too, which is
// most of what a large flush costs this process.

type Nullable<T> = T | null;

/** For numbers, ids and anything else that needs no quotes. Null where no element has a value. */
export function plainArray(values: readonly Nullable<string | number | boolean>[]): string | null {
  let isEmpty = true;
  let text = '';
  for (const value of values) {
    if (text !== '') text += ',';
    if (value === null) {
      text += 'NULL';
    } else {
      text += value;
      isEmpty = false;
    }
  }
  return isEmpty ? null : `{${text}}`;
}

const NEEDS_ESCAPE = /["\\]/;
const ESCAPED = /["\\]/g;

export function textArray(values: readonly Nullable<string>[]): string | null {
  let isEmpty = true;
  let text = '';
  for (const value of values) {
    if (text !== '') text += ',';
    if (value === null) {
      text += 'NULL';
    } else {
      text += NEEDS_ESCAPE.test(value) ? `"${value.replace(ESCAPED, '\\$&')}"` : `"${value}"`;
      isEmpty = false;
    }
  }
  return isEmpty ? null : `{${text}}`;
}

/** Pieces of JSON as one array of it, which needs no escaping at all. */
export function jsonArray(pieces: readonly Nullable<string>[]): string | null {
  if (pieces.every((piece) => piece === null)) return null;
  return `[${pieces.map((piece) => piece ?? 'null').join(',')}]`;
}
