import { invalid } from './remote-error.ts';

export type QueryValue = string | number | boolean | readonly string[] | undefined;
export type QueryValues = Record<string, QueryValue>;

/** Where the server is, without a slash at its end. No error quotes the text, because it may hold a password anywhere. */
export function baseOf(url: string): string {
  const { protocol, username, password, origin, pathname } = URL.canParse(url) ? new URL(url) : NO_URL;
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw invalid('The address of a server must be a URL like http://localhost:8080 or https://jobs.example.com.');
  }
  // A fetch refuses user info. An '@' in the path may be the end of a password that was not percent-encoded.
  if (username !== '' || password !== '' || pathname.includes('@')) {
    throw invalid('The address of a server must not hold credentials. Send them in headers, or as a key.');
  }
  return origin + pathname.replace(/\/+$/, '');
}

const NO_URL = { protocol: '', username: '', password: '', origin: '', pathname: '' };

/** A list that is empty is sent as such, for the server to refuse: left out, it would match everything. */
export function queryOf(values: QueryValues): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  const pairs = given.map(([name, value]): [string, string] => [name, String(value)]);
  return `?${new URLSearchParams(pairs)}`;
}

/** A path with everything that came from a caller made harmless. */
export const path = (parts: TemplateStringsArray, ...names: readonly string[]): string =>
  parts.reduce((made, part, index) => made + segment(names[index - 1]!) + part);

function segment(name: string): string {
  if (typeof name !== 'string')
    throw invalid(`A name or an id must be text, not ${name === null ? 'null' : typeof name}.`);
  // A URL drops these whatever their spelling, and the call would go elsewhere.
  if (name === '' || name === '.' || name === '..') throw invalid(`'${name}' cannot be a name.`);
  return encodeURIComponent(name);
}
