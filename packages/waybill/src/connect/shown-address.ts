/** Addresses whose path is a file or a folder: they have no user, so an `@` is part of a name. */
const FILE = /^(sqlite|file):([^?]*)(?:\?(.*))?$/is;
const URL_LIKE = /^([a-z][a-z0-9+.-]*):\/\/([^/?#\\]*)([^?#]*)(?:\?([^#]*))?/i;
const KNOWN_SCHEME = /^(postgres|postgresql|dynamodb|https?|grpcs?|sqs|s3):/i;
const HOST_AND_PORT = /^(?:\[[0-9a-f:.]+\]|[\w.%-]*)(?::\d*)?$/i;

/** Stands for everything that may be secret. */
const MASK = '***';

/**
 * What messages and logs show of an address: scheme, host, port, path and the names of parameters. The user info is
 * dropped and every value is masked, because a list of secret parameters would miss the misspelt ones. An `@` behind the
 * host may be the end of a password that was not percent-encoded; then only the scheme is shown. Empty: nothing is safe.
 */
export function shownAddress(address: string): string {
  const [, fileScheme, file = '', fileQuery] = FILE.exec(address) ?? [];
  if (fileScheme !== undefined) {
    const isDoubtful = /:.*@|^\/\/[^/]*@/s.test(file) || fileQuery?.includes('@');
    return `${fileScheme}:${isDoubtful ? MASK : file + shownQuery(fileQuery)}`;
  }
  const [whole, scheme, authority = '', path = '', query] = URL_LIKE.exec(address) ?? [];
  if (whole === undefined) {
    const known = KNOWN_SCHEME.exec(address)?.[1];
    return known === undefined ? '' : `${known}:${MASK}`;
  }
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const isDoubtful = address.indexOf('@', `${scheme}://${authority}`.length) !== -1 || !HOST_AND_PORT.test(host);
  return isDoubtful ? `${scheme}:${MASK}` : `${scheme}://${host}${path}${shownQuery(query)}`;
}

/** The same without path and parameters, for addresses whose path may hold a key. */
export const shownOrigin = (address: string): string =>
  /^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#]*|\*\*\*$)/i.exec(shownAddress(address))?.[0] ?? '';

/** Whether the name of a parameter is part of what `shownAddress` shows. */
export const showsParameter = (address: string, name: string): boolean =>
  (shownAddress(address).split('?', 2)[1] ?? '').split('&').includes(`${name}=${MASK}`);

/** A word of a command line for messages: an address or a key may stand where none is expected. */
export const shownWord = (word: string): string => {
  if (/^wb_/.test(word)) return `wb_${MASK}`;
  return /[:@]/.test(word) ? shownAddress(word) || MASK : word;
};

/** Without `=` it is not clear that a text is a name. */
function shownQuery(query: string | undefined): string {
  if (query === undefined || query === '') return '';
  const shown = query.split('&').map((pair) => `${/^[\w.-]{1,40}=/.exec(pair)?.[0] ?? ''}${MASK}`);
  return `?${shown.join('&')}`;
}
