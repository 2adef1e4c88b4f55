// Columns of many rows as PostgreSQL's array literals. `pg` would quote and escape every element, numbers too, which is
// most of what a large flush costs this process.

type Plain = string | number | boolean;
type Pick<T, V> = (one: T) => V | null;

const itself = <T>(value: T): T => value;

/** For numbers, ids and anything else that needs no quotes. Null where no element has a value. */
export const plainArray = (values: readonly (Plain | null)[]): string | null => plainColumn(values, itself);

export const textArray = (values: readonly (string | null)[]): string | null => textColumn(values, itself);

export const plainColumn = <T>(of: readonly T[], pick: Pick<T, Plain>): string | null => column(of, pick, String);

export const textColumn = <T>(of: readonly T[], pick: Pick<T, string>): string | null => column(of, pick, quoted);

/** As a column, but with one element where all would be the same; the function must know. */
export const sharedPlain = <T>(of: readonly T[], pick: Pick<T, Plain>): string | null => shared(of, pick, String);

export const sharedText = <T>(of: readonly T[], pick: Pick<T, string>): string | null => shared(of, pick, quoted);

function column<T, V>(of: readonly T[], pick: Pick<T, V>, write: (value: V) => string): string | null {
  let text = '';
  let nulls = 0;
  for (const one of of) {
    const value = pick(one);
    if (value === null) {
      // Most columns that may be empty are: nothing is written before there is a value.
      if (text === '') nulls += 1;
      else text += ',NULL';
    } else if (text === '') text = `{${'NULL,'.repeat(nulls)}${write(value)}`;
    else text += `,${write(value)}`;
  }
  return text === '' ? null : `${text}}`;
}

function shared<T, V>(of: readonly T[], pick: Pick<T, V>, write: (value: V) => string): string | null {
  const first = of.length === 0 ? null : pick(of[0]!);
  if (first === null || of.some((one) => pick(one) !== first)) return column(of, pick, write);
  return `{${write(first)}}`;
}

const NEEDS_ESCAPE = /["\\]/;
const ESCAPED = /["\\]/g;

const quoted = (value: string): string =>
  NEEDS_ESCAPE.test(value) ? `"${value.replace(ESCAPED, '\\$&')}"` : `"${value}"`;

/** Pieces of JSON, one in a line: JSON has no line ends of its own, so nothing needs to be escaped. */
export function jsonLines<T>(of: readonly T[], pick: Pick<T, string>): string | null {
  const pieces = of.map(pick);
  return pieces.every((piece) => piece === null) ? null : pieces.map((piece) => piece ?? '').join('\n');
}
