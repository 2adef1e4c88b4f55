import type { Logger } from '@waybill/core';
import { errorFromWire } from '../error-wire.ts';
import { TENANT_HEADER } from '../tenant-wire.ts';
import { baseOf, type QueryValues, queryOf } from './address.ts';
import { Attempts, type SlowCalls } from './attempts.ts';
import { headersOf } from './credentials.ts';
import { download, type Fetch } from './download.ts';
import { noAnswer } from './no-answer.ts';
import { invalid, RemoteError } from './remote-error.ts';
import type { Sleep } from './waiting.ts';

const MEDIA_TYPE = 'application/openjobspec+json';
export const ALL_TENANTS = '*';

/** As every call of the port may name one. */
export interface Named {
  tenant?: string | undefined;
}

export interface CallOptions {
  /** As `tenantOf` answered it. @defaultValue that of the connection */
  tenant?: string;
  query?: QueryValues;
  body?: unknown;
  headers?: Record<string, string>;
  /** Whether a call whose fate is unknown may be sent again. @defaultValue for GET */
  repeatable?: boolean;
  /** Told before each repetition. */
  onRepeat?(): void;
  /** How much longer than usual the answer may take. @defaultValue 0 */
  waitMs?: number;
  signal?: AbortSignal;
  /** A status that is an answer, although it looks like a refusal. */
  accept?: number;
}

export interface CallsOptions {
  tenant?: string;
  headers?: Record<string, string>;
  key?: string;
  callHeaders?: () => Record<string, string>;
  fetch?: Fetch;
  timeoutMs?: number;
  sleep?: Sleep;
  logger?: StreamLogger;
  slow?: SlowCalls;
}

/** What streams tell of their connection. */
export type StreamLogger = Pick<Logger, 'info' | 'warn'>;

export const silent: StreamLogger = { info: () => {}, warn: () => {} };

export interface Answer<T> {
  status: number;
  body: T;
}

/** Sends calls and reads answers: timeouts, repetition and errors are dealt with here and nowhere else. */
export class Calls {
  readonly logger: StreamLogger;
  /** The address of the server, without anything secret. */
  readonly server: string;
  readonly #headers: Record<string, string>;
  readonly #callHeaders: CallsOptions['callHeaders'];
  readonly #tenant: string;
  /** The tenant of this connection's key, as the server tells it. Answers that are about no tenant do not say it. */
  #told = '';
  readonly #fetch: Fetch;
  readonly #attempts: Attempts;

  constructor(url: string, options: CallsOptions) {
    this.server = baseOf(url);
    this.#headers = headersOf(options.headers, options.key);
    this.#callHeaders = options.callHeaders;
    this.#tenant = checkTenant(options.tenant ?? '');
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.logger = options.logger ?? silent;
    const { timeoutMs, sleep, slow } = options;
    this.#attempts = new Attempts({ server: this.server, timeoutMs, sleep, slow });
  }

  /** The tenant that a call is about: the one that it names, else that of the connection. */
  tenantOf(call: Named | undefined): string {
    return call?.tenant === undefined ? this.#tenant : checkTenant(call.tenant);
  }

  /**
   * Whose things an answer shows: a key that belongs to a tenant need not name it, and the server then says which it is.
   * What a job has in its meta does not tell, because producers may note there what they like.
   */
  whose(asked: string): string {
    return asked === '' ? this.#told : asked;
  }

  /** Aborted by `close`, for those who would go on for long. */
  get closing(): AbortSignal {
    return this.#attempts.closing;
  }

  /** How long a call may take with all its repetitions, and how long a stream may take to open. */
  get timeoutMs(): number {
    return this.#attempts.timeoutMs;
  }

  get sleep(): Sleep {
    return this.#attempts.sleep;
  }

  /** Takes no more calls and waits for those under way. */
  close(): Promise<void> {
    return this.#attempts.close();
  }

  /** Answers the body of the answer; refused with a RemoteError. */
  async call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    return (await this.send<T>(method, path, options)).body;
  }

  async send<T>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
    const { repeatable = method === 'GET', onRepeat, waitMs, signal } = options;
    const body = options.body === undefined ? undefined : jsonOf(options.body);
    return this.#attempts.run({ repeatable, onRepeat, waitMs, signal }, async (late) => {
      const response = await this.#request(method, path, body, options, late);
      return read<T>(response, await this.#textOf(response), options.accept, this.server);
    });
  }

  /** The bare answer, for those who read its body as it comes. */
  async open(
    path: string,
    options: Pick<CallOptions, 'query' | 'headers' | 'tenant'>,
    signal: AbortSignal,
  ): Promise<Response> {
    const response = await this.#request('GET', path, undefined, options, signal);
    if (response.ok) return response;
    throw new RemoteError(errorFromWire(parsed(await this.#textOf(response)), response.status));
  }

  /** JSON from an address outside of the server. */
  download<T>(url: string): Promise<T> {
    return download<T>(url, this.#fetch, this);
  }

  /** An answer that breaks off is as good as none. */
  #textOf(response: Response): Promise<string> {
    return response.text().catch((error: unknown) => {
      throw noAnswer(this.server, error);
    });
  }

  async #request(
    method: string,
    path: string,
    body: string | undefined,
    { query = {}, headers, tenant = this.#tenant }: CallOptions,
    signal: AbortSignal,
  ): Promise<Response> {
    const type = body === undefined ? undefined : { 'Content-Type': MEDIA_TYPE };
    const whose = tenant === '' ? undefined : { [TENANT_HEADER]: tenant };
    const own = { ...this.#callHeaders?.(), ...this.#headers, ...whose, ...headers };
    // A redirect is not followed, because what the headers hold is for this server alone.
    const init = { method, headers: { Accept: MEDIA_TYPE, ...type, ...own }, signal, redirect: 'manual' as const };
    try {
      const url = this.server + path + queryOf(query);
      const response = await this.#fetch(url, body === undefined ? init : { ...init, body });
      if (tenant === '') this.#told = response.headers.get(TENANT_HEADER) ?? this.#told;
      return response;
    } catch (error) {
      throw noAnswer(this.server, error);
    }
  }
}

function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    throw new RemoteError({ code: 'invalid_payload', message: 'The request cannot be written as JSON.' }, error);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function read<T>(response: Response, text: string, accept: number | undefined, server: string): Answer<T> {
  const { status } = response;
  const body = parsed(text);
  const isObject = typeof body === 'object' && body !== null;
  // A proxy in between may answer with the accepted status too; its body is none of ours.
  if (isObject && (response.ok || (status === accept && !('error' in body)))) return { status, body: body as T };
  if (isObject && 'error' in body) throw new RemoteError(errorFromWire(body, status));
  throw foreign(server, status, elsewhere(response));
}

const CHECK_ADDRESS = 'Check the port and the path in the address.';

export const noWaybill = (server: string): RemoteError =>
  new RemoteError({
    code: 'internal',
    message: `What answered at ${server} is no Waybill server.`,
    hint: CHECK_ADDRESS,
  });

/** What a proxy says of itself with these is true also where the body is none of ours. */
const OF_PROXIES: readonly number[] = [401, 403, 413, 429, 503, 504];

/** Somebody else has answered: a wrong address, or a proxy that has lost its server. Nothing is known of the call. */
function foreign(server: string, status: number, hint = CHECK_ADDRESS): RemoteError {
  const { code } = errorFromWire(undefined, status);
  const message = `What answered at ${server} with status ${status} is no Waybill server.`;
  return OF_PROXIES.includes(status)
    ? new RemoteError({ code, message })
    : new RemoteError({ code: 'unavailable', message, hint });
}

/** Where a redirect leads, without its path, which may hold a secret. Browsers do not tell. */
function elsewhere(response: Response): string | undefined {
  if (response.type === 'opaqueredirect') return REDIRECTED;
  const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
  if (location === null || !URL.canParse(location)) return undefined;
  return `${REDIRECTED} It leads to ${new URL(location).origin}.`;
}

const REDIRECTED = 'Redirects are not followed: use the address of the server itself.';

/** What can be sent as a header; the server knows the whole rule. */
const TENANT = /^[\x21-\x7e]*$/;

export function checkTenant(tenant: string): string {
  if (tenant === ALL_TENANTS)
    throw invalid(`A call to a server is about one tenant: '${ALL_TENANTS}' cannot be asked for.`);
  if (typeof tenant === 'string' && TENANT.test(tenant)) return tenant;
  throw invalid('A tenant must have printable ASCII characters only, and no space.');
}

/** A transaction lives on a connection to the database, and there is none here. */
export function refuseWithin(context: { within?: unknown } | undefined): void {
  if (context?.within === undefined) return;
  const message = 'A remote client cannot take part in a transaction of the caller.';
  const hint = "Connect to the PostgreSQL database itself, or leave 'within' out and call after the commit.";
  throw new RemoteError({ code: 'unsupported', message, hint });
}
