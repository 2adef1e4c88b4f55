import { closest, didYouMean, WaybillError } from '@waybill/core';

/** What each kind of address looks like, for those who got one wrong. */
export const EXAMPLES = {
  sqlite: 'sqlite:./waybill.db',
  postgres: 'postgres://user:password@host:5432/database',
  postgresql: 'postgresql://user:password@host:5432/database',
  dynamodb: 'dynamodb://eu-west-1/jobs',
  http: 'http://localhost:8080',
  https: 'https://jobs.example.com',
} as const;

export type Scheme = keyof typeof EXAMPLES;
export type StoreScheme = Exclude<Scheme, 'http' | 'https'>;

export const SCHEMES = Object.keys(EXAMPLES) as Scheme[];
export const STORE_SCHEMES = SCHEMES.filter((scheme): scheme is StoreScheme => !scheme.startsWith('http'));

/** The scheme of an address, in lower case; refuses whatever is none of `known`. */
export function schemeOf<Known extends Scheme>(address: unknown, known: readonly Known[]): Known {
  if (typeof address !== 'string' || address.trim() === '') throw noAddress(address, known);
  const typed = /^([a-z][a-z0-9+.-]*):/i.exec(address)?.[1];
  const scheme = known.find((one) => one === typed?.toLowerCase());
  if (scheme !== undefined) return scheme;
  const why = typed === undefined ? 'it has no scheme' : `'${typed}:' is none of ${list(known)}`;
  throw badAddress(address, `${why}.${meantBy(address, typed, known)}`, known);
}

/** The most common slips: a file or a host without a scheme, and a scheme that is misspelt. */
function meantBy(address: string, typed: string | undefined, known: readonly Scheme[]): string {
  const near = typed === undefined ? undefined : closest(typed.toLowerCase(), known);
  if (near !== undefined) return ` Did you mean '${near}:'?`;
  if (known.includes('http') && /^[\w.-]+:\d+(\/|$)/.test(address)) return ` Did you mean 'http://${address}'?`;
  if (typed === undefined && /\.(db|sqlite3?)$/.test(address)) return ` Did you mean 'sqlite:${address}'?`;
  return '';
}

function noAddress(given: unknown, known: readonly Scheme[]): WaybillError {
  const found = typeof given === 'string' ? 'an empty text' : given === null ? 'null' : typeof given;
  return new WaybillError('invalid_request', `An address is needed, and this is ${found}.`, {
    hint: `Use an address like ${EXAMPLES[known[0]!]}. If it comes from an environment variable, check that it is set.`,
  });
}

/** As a URL; refuses what is none, with the reason where that is the port. */
export function parseUrl(address: string, scheme: Scheme): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  const port = url === null ? portIn(address) : url.port;
  if (port !== '' && !(Number(port) >= 1 && Number(port) <= 65_535)) {
    throw badAddress(address, `its port must be a number from 1 to 65535, not ${port}.`, [scheme]);
  }
  if (url !== null) return url;
  const why = 'it is no URL. Special characters in a user or password must be percent-encoded.';
  throw badAddress(address, why, [scheme]);
}

/** Only digits are shown: anything else may be part of a password. */
const portIn = (address: string): string => /^[a-z]+:\/\/(?:[^@]*@)?[\w.-]*:(\d+)(?:[/?#]|$)/i.exec(address)?.[1] ?? '';

/** Refuses parameters that nobody would read: misspelt, they would silently have no effect. */
export function checkParameters(
  address: string,
  given: URLSearchParams,
  known: readonly string[],
  scheme: Scheme,
): void {
  const names = [...given.keys()];
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    // Behind a password that is not encoded, a part of it would look like a name.
    const named = /^[\w.-]{1,40}$/.test(unknown) ? `'${unknown}'` : 'a parameter';
    const words = known.length === 0 ? ' It takes none.' : didYouMean(unknown, known) || ` It takes ${list(known)}.`;
    throw badAddress(address, `it has ${named}, which is unknown.${words}`, [scheme]);
  }
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw badAddress(address, `it has '${twice}' more than once.`, [scheme]);
}

export function badAddress(address: string, why: string, like: readonly Scheme[]): WaybillError {
  return new WaybillError('invalid_request', `The address '${withoutSecrets(address)}' cannot be used: ${why}`, {
    hint: `Use an address like ${list(like.filter((scheme) => scheme !== 'postgresql' && scheme !== 'https').map((scheme) => EXAMPLES[scheme]))}.`,
  });
}

const list = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

const SECRET_PARAMETERS = /([?&](?:password|sslpassword|listen_url)=)[^&#]*/gi;
const SCHEME = /^(?:sqlite|postgres|postgresql|dynamodb|https?|sqs|s3|file):(?:\/\/)?/i;

/**
 * Addresses end up in messages and logs; passwords must not. They may hold any character where somebody forgot to encode
 * them, and the scheme may be missing, so everything from the first colon behind the scheme to the last `@` goes.
 */
export function withoutSecrets(address: string): string {
  const [scheme = ''] = SCHEME.exec(address) ?? [];
  const rest = address.slice(scheme.length).replace(SECRET_PARAMETERS, '$1***');
  const isServer = /^http/i.test(scheme);
  return scheme + rest.replace(isServer ? /^[^/?#]*@/ : /^([^:/@?#]*):.*@/s, isServer ? '***@' : '$1:***@');
}
