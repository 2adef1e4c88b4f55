import { closest, didYouMean, WaybillError } from '@waybill/core';
import { shownAddress, showsParameter } from './shown-address.ts';

/** What each kind of address looks like, for those who got one wrong. */
export const EXAMPLES = {
  sqlite: 'sqlite:./waybill.db',
  postgres: 'postgres://user:password@host:5432/database',
  postgresql: 'postgres://user:password@host:5432/database',
  dynamodb: 'dynamodb://eu-west-1/jobs',
  http: 'http://localhost:8080',
  https: 'https://jobs.example.com',
  grpc: 'grpc://localhost:9090',
  grpcs: 'grpcs://jobs.example.com',
} as const;

export type Scheme = keyof typeof EXAMPLES;
export type ServerScheme = 'http' | 'https' | 'grpc' | 'grpcs';
export type StoreScheme = Exclude<Scheme, ServerScheme>;

export const SCHEMES = Object.keys(EXAMPLES) as Scheme[];
export const STORE_SCHEMES = SCHEMES.filter((scheme): scheme is StoreScheme => !/^(http|grpc)/.test(scheme));

/** For every part of an address that a special character has cut short. */
export const ENCODE = 'Percent-encode special characters in the user and the password.';

/** The scheme of an address, in lower case; refuses whatever is none of `known`. */
export function schemeOf<Known extends Scheme>(address: unknown, known: readonly Known[]): Known {
  if (typeof address !== 'string' || address.trim() === '') throw noAddress(address, known);
  const typed = /^([a-z][a-z0-9+.-]*):/i.exec(address)?.[1];
  const scheme = known.find((one) => one === typed?.toLowerCase());
  if (scheme !== undefined) return scheme;
  const meant = typed === undefined ? undefined : closest(typed.toLowerCase(), known);
  // Without slashes the text before a colon may as well be a host or a user.
  const isScheme = meant !== undefined || /^[^:]*:\/\//.test(address);
  const why = isScheme ? `'${typed}:' is none of ${list(known)}.` : 'it has no scheme.';
  const advice = meant === undefined ? leftOut(address, known) : ` Did you mean '${meant}:'?`;
  throw badAddress(address, `${why}${advice}`, known);
}

/** Proposes a scheme and never the address itself, which may hold a password. */
function leftOut(address: string, known: readonly Scheme[]): string {
  if (known.includes('http') && /^[\w.-]+:\d+(\/[^@]*)?$/.test(address)) return " Did you leave out 'http://'?";
  if (/^[^:]*\.(db|sqlite3?)$/.test(address)) return " Did you leave out 'sqlite:'?";
  return '';
}

function noAddress(given: unknown, known: readonly Scheme[]): WaybillError {
  const found = given === '' ? 'empty' : typeof given === 'string' ? 'blank' : given === null ? 'null' : typeof given;
  const message =
    typeof given === 'string' || given === undefined || given === null
      ? `The address is ${found}.`
      : `The address must be a string, not a value of type ${found}.`;
  return new WaybillError('invalid_request', message, {
    hint: `Use an address like ${EXAMPLES[known[0]!]}. If it comes from an environment variable, check that it is set.`,
  });
}

/** Parses an address as a URL; when that fails because of the port, the error says so. */
export function parseUrl(address: string, scheme: Scheme): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  const port = url === null ? portIn(address) : url.port;
  if (port !== '' && !(Number(port) >= 1 && Number(port) <= 65_535)) {
    throw badAddress(address, `its port must be a number from 1 to 65535, not ${port}.`, [scheme]);
  }
  if (url === null) throw badAddress(address, `it is not a valid URL. ${ENCODE}`, [scheme]);
  return url;
}

/** The port that messages show anyway; other digits may be part of a password. */
const portIn = (address: string): string =>
  /^[a-z]+:\/\/[\w.-]*:(\d+)(?:[/?#]|$)/i.exec(shownAddress(address))?.[1] ?? '';

/** Refuses parameters that have no reader: misspelt, they would silently have no effect. */
export function checkParameters(
  address: string,
  given: URLSearchParams,
  known: readonly string[],
  scheme: Scheme,
): void {
  const unknown = [...given.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const words = known.length === 0 ? ' It takes none.' : didYouMean(unknown, known) || ` It takes ${list(known)}.`;
    throw unknownParameter(address, unknown, words, scheme);
  }
  checkOnce(address, given, known, scheme);
}

export function unknownParameter(address: string, name: string, words: string, scheme: Scheme): WaybillError {
  const named = showsParameter(address, name) ? `the unknown parameter '${name}'` : 'an unknown parameter';
  return badAddress(address, `it has ${named}.${words}`, [scheme]);
}

/** Refuses a parameter of ours that is given twice, because only one of the values would be read. */
export function checkOnce(address: string, given: URLSearchParams, ours: readonly string[], scheme: Scheme): void {
  const twice = ours.find((name) => given.getAll(name).length > 1);
  if (twice !== undefined) throw badAddress(address, `it has '${twice}' more than once.`, [scheme]);
}

export function badAddress(address: string, why: string, like: readonly Scheme[]): WaybillError {
  const shown = shownAddress(address);
  // One example of each kind; those without TLS stand for those with it as well where both are possible.
  const examples =
    like.length === 1 ? like : like.filter((scheme) => !['postgresql', 'https', 'grpcs'].includes(scheme));
  return new WaybillError('invalid_request', `The address${shown && ` '${shown}'`} cannot be used: ${why}`, {
    hint: `Use an address like ${list(examples.map((scheme) => EXAMPLES[scheme]))}.`,
  });
}

const list = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
