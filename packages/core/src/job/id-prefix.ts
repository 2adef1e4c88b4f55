import { invalidField } from '../errors.ts';

const FIRST = '00000000-0000-0000-0000-000000000000';
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Whether ids may begin so: hex digits in lower case, with dashes where ids have them. */
export const isIdPrefix = (text: string): boolean =>
  text.length > 0 &&
  text.length <= FIRST.length &&
  [...text].every((letter, at) => (FIRST[at] === '-' ? letter === '-' : /[0-9a-f]/.test(letter)));

export function checkIdPrefix(text: string, field: string): string {
  if (isIdPrefix(text)) return text;
  throw invalidField(field, 'must be the first characters of an id, in lower case.');
}

/** The ids that begin so are a range, since ids sort as texts: an index finds it, also in a column of UUIDs. */
export const idRange = (prefix: string): { first: string; last: string } => ({
  first: prefix + FIRST.slice(prefix.length),
  last: prefix + LAST.slice(prefix.length),
});
