import type { Json } from '../json.ts';

/**
 * One text per value: keys sorted at every level, no white space, strings in Unicode's composed form, numbers as
 * JSON.stringify writes them, which is how RFC 8785 wants them.
 */
export function canonicalJson(value: Json): string {
  if (typeof value === 'string') return JSON.stringify(value.normalize('NFC'));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value)
    .map(([key, member]): [string, Json] => [key.normalize('NFC'), member])
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`;
}
