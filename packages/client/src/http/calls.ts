import type { Logger } from '@waybill/core';
import { errorFromWire } from '../error-wire.ts';
import { TENANT_HEADER } from '../tenant-wire.ts';
import { baseOf, type QueryValues, queryOf } from './address.ts';
import { invalid, isLost, RemoteError } from './remote-error.ts';
import { backoffMs, join, type Sleep, sleep } from './waiting.ts';

const MEDIA_TYPE = 'application/openjobspec+json';
const ATTEMPTS = 4;
const ALL_TENANTS = '*';

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
  fetch?: (url: string, init: RequestInit) => Response | Promise<Response>;
  timeoutMs?: number;
  sleep?: Sleep;
  logger?: StreamLogger;
  slow?: SlowCalls;
}

/** Whom to tell of a call that takes long, beside what it was told to wait. */
export interface SlowCalls {
  afterMs: number;
  tell(): void;
}

/** What streams tell of their connection. */
export type StreamLogger = Pick<Logger, 'info' | 'warn'>;

const silent: StreamLogger = { info: () => {}, warn: () => {} };

export interface Answer<T> {
  status: number;
  body: T;
}

/** Sends calls and reads answers: timeouts, repetition and errors are dealt with here and nowhere else. */
export class Calls {
  readonly sleep: Sleep;
  readonly logger: StreamLogger;
  /** The address of the server, without anything secret. */
  readonly server: string;
  /** How long a call may take with all its repetitions, and how long a stream may take to open. */
  readonly timeoutMs: number;
  readonly #headers: Record<string, string>;
  readonly #tenant: string;
  readonly #fetch: NonNullable<CallsOptions['fetch']>;
  readonly #slow: SlowCalls | undefined;
  readonly #closing = new AbortController();
  readonly #underway = new Set<Promise<unknown>>();

  constructor(url: string, options: CallsOptions) {
    this.server = baseOf(url);
    this.#headers = checkHeaders({ ...options.headers });
    this.#tenant = checkTenant(options.tenant ?? '');
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.timeoutMs = options.timeoutMs ?? 30_000;
    this.sleep = options.sleep ?? sleep;
    this.logger = options.logger ?? silent;
    this.#slow = options.slow;
  }

  /** The tenant that a call is about: the one that it names, else that of the connection. */
  tenantOf(call: Named | undefined): string {
    return call?.tenant === undefined ? this.#tenant : checkTenant(call.tenant);
  }

  /** Aborted by `close`, for those who would go on for long. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Takes no more calls and waits for those under way: what became of a settle must not be left in the dark. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#underway);
  }

  /** Answers the body of the answer; refused with a RemoteError. */
  async call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    return (await this.send<T>(method, path, options)).body;
  }

  async send<T>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
    if (this.closing.aborted) throw new RemoteError({ code: 'unavailable', message: 'This client was closed.' });
    const sending = this.#send<T>(method, path, options);
    this.#underway.add(sending);
    try {
      return await sending;
    } finally {
      this.#underway.delete(sending);
    }
  }

  async #send<T>(method: string, path: string, options: CallOptions): Promise<Answer<T>> {
    const { repeatable = method === 'GET', onRepeat } = options;
    const body = options.body === undefined ? undefined : jsonOf(options.body);
    const away = join(options.signal, this.closing);
    const slow = this.#slow && setTimeout(this.#slow.tell, this.#slow.afterMs + (options.waitMs ?? 0));
    // One deadline over all attempts: a server that swallows every call would else be waited for as often as it is asked.
    const allowedMs = this.timeoutMs + (options.waitMs ?? 0);
    const begun = performance.now();
    const leftMs = () => allowedMs - (performance.now() - begun);
    try {
      for (let failures = 0; ; failures += 1) {
        if (failures > 0) onRepeat?.();
        try {
          return await this.#attempt<T>(method, path, body, options, { allowedMs, leftMs: Math.max(0, leftMs()) });
        } catch (error) {
          if (!repeatable || !isLost(error) || failures + 1 >= ATTEMPTS) throw error;
          const pauseMs = backoffMs(failures);
          if (leftMs() <= pauseMs) throw error;
          await this.sleep(pauseMs, away.signal);
          if (away.signal.aborted) throw error;
        }
      }
    } finally {
      clearTimeout(slow);
      away.leave();
    }
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

  /**
   * JSON from an address outside of the server. None of our headers goes there, and nothing tells the address: it is a
   * secret.
   */
  async download<T>(url: string): Promise<T> {
    const late = join(AbortSignal.timeout(this.timeoutMs), this.closing);
    try {
      const response = await this.#fetch(url, { method: 'GET', headers: {}, signal: late.signal });
      if (response.ok) return JSON.parse(await response.text()) as T;
    } catch {
      // The reason may quote the address.
    } finally {
      late.leave();
    }
    const message = 'A large payload could not be fetched from the address that the server told.';
    throw new RemoteError({
      code: 'unavailable',
      message,
      hint: 'Read the job again: addresses are good for minutes.',
    });
  }

  /** Raced against the deadline: a fetch of the caller's own, or what it reads from, may take no notice of its signal. */
  async #attempt<T>(
    method: string,
    path: string,
    body: string | undefined,
    options: CallOptions,
    { allowedMs, leftMs }: { allowedMs: number; leftMs: number },
  ): Promise<Answer<T>> {
    const late = join(options.signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const deadline = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(tooLate(this.server, allowedMs));
        late.abort();
      }, leftMs);
    });
    const answer = this.#request(method, path, body, options, late.signal).then(async (response) =>
      read<T>(response, await this.#textOf(response), options.accept, this.server),
    );
    try {
      return await Promise.race([answer, deadline]);
    } finally {
      clearTimeout(timer);
      late.leave();
    }
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
    const init = { method, headers: { Accept: MEDIA_TYPE, ...type, ...this.#headers, ...whose, ...headers }, signal };
    try {
      return await this.#fetch(this.server + path + queryOf(query), body === undefined ? init : { ...init, body });
    } catch (error) {
      throw noAnswer(this.server, error);
    }
  }
}

/** Found out now: a fetch that throws looks like a server that cannot be reached. */
function checkHeaders(headers: Record<string, string>): Record<string, string> {
  try {
    new Headers(headers);
    return headers;
  } catch (error) {
    throw new RemoteError({ code: 'invalid_request', message: 'These headers cannot be sent.' }, error);
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
  throw foreign(server, status);
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
function foreign(server: string, status: number): RemoteError {
  const { code } = errorFromWire(undefined, status);
  const message = `What answered at ${server} with status ${status} is no Waybill server.`;
  return OF_PROXIES.includes(status)
    ? new RemoteError({ code, message })
    : new RemoteError({ code: 'unavailable', message, hint: CHECK_ADDRESS });
}

const noAnswer = (server: string, cause: unknown): RemoteError => {
  const message = `The server ${server} could not be reached, or its answer broke off.`;
  return new RemoteError({ code: 'unavailable', message }, cause);
};

const tooLate = (server: string, ms: number): RemoteError =>
  new RemoteError({ code: 'timeout', message: `The server ${server} has not answered within ${ms} ms.` });

/** What can be sent as a header; the server knows the whole rule. */
const TENANT = /^[\x21-\x7e]*$/;

function checkTenant(tenant: string): string {
  if (tenant === ALL_TENANTS)
    throw invalid(`A call over HTTP is about one tenant: '${ALL_TENANTS}' cannot be asked for.`);
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
