import { invalid, RemoteError } from './remote-error.ts';

/** Room for a token of another issuer; servers take headers of 16 KB. */
const KEY = /^[\x21-\x7e]{1,8192}$/;
const OF_KEYS: readonly string[] = ['authorization', 'x-api-key'];

/** What goes with every call. Found out now: a fetch that throws looks like a server that cannot be reached. */
export function headersOf(given: Record<string, string> | undefined, key: string | undefined): Record<string, string> {
  const headers = { ...given };
  checkHeaders(headers);
  if (key === undefined) return headers;
  // No message quotes a key, however wrong it is.
  if (typeof key !== 'string') throw invalid(`The option 'key' must be a string, not ${typeof key}.`);
  if (key === '')
    throw invalid("The option 'key' is empty. If it comes from an environment variable, check that it is set.");
  if (!KEY.test(key)) throw invalid("The option 'key' must have printable ASCII characters only, and no space.");
  const twice = Object.keys(headers).find((name) => OF_KEYS.includes(name.toLowerCase()));
  if (twice !== undefined) throw invalid(`The option 'key' and the header '${twice}' contradict each other: send one.`);
  return { ...headers, Authorization: `Bearer ${key}` };
}

/** Neither the message nor a cause has the value: it may be a secret. */
function checkHeaders(headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      const which = /^[\w-]{1,100}$/.test(name) ? ` Check the value of '${name}'.` : '';
      throw new RemoteError({ code: 'invalid_request', message: `These headers cannot be sent.${which}` });
    }
  }
}
