import { invalid } from './remote-error.ts';

export type QueryValue = string | number | boolean | readonly string[] | undefined;
export type QueryValues = Record<string, QueryValue>;

/** Where the server is, without a slash at its end. */
export function baseOf(url: string): string {
  // Not quoted where it may hold a password.
  const quoted = /[@]/.test(url) ? 'This' : `'${url}'`;
  if (!URL.canParse(url)) throw invalid(`${quoted} is not the address of a server, like http://localhost:8080.`);
  const { protocol, username, password, origin, pathname } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') throw invalid(`A server is spoken to over http, not ${protocol}`);
  // A fetch refuses such an address, and secrets in addresses end up in logs.
  if (username !== '' || password !== '') throw invalid('Send credentials in headers, not in the address.');
  return origin + pathname.replace(/\/+$/, '');
}

/** A list that is empty is sent as such, for the server to refuse: left out, it would match everything. */
export function queryOf(values: QueryValues): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  const pairs = given.map(([name, value]): [string, string] => [name, String(value)]);
  return `?${new URLSearchParams(pairs)}`;
}

/** A path with everything that came from a caller made harmless. */
export const path = (parts: TemplateStringsArray, ...names: readonly string[]): string =>
  parts.reduce((made, part, index) => made + segment(names[index - 1] ?? '') + part);

function segment(name: string): string {
  // A URL drops these whatever their spelling, and the call would go elsewhere.
  if (name === '' || name === '.' || name === '..') throw invalid(`'${name}' cannot be a name.`);
  return encodeURIComponent(name);
}
