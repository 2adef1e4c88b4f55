import {
  type Clock,
  checkPrincipal,
  isObject,
  type Logger,
  type Principal,
  type Waybill,
  WaybillError,
} from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import type { Identify } from '../http/port.ts';
import { secretIn, unauthenticated } from './credentials.ts';
import { fromKey, type Identified, type KeyLookup } from './identified.ts';
import { JwtVerifier } from './jwt.ts';
import type { CheckedAuth } from './options.ts';
import { RefusedCallers } from './refused-callers.ts';
import { SessionBook } from './session-book.ts';
import { SessionCookies } from './session-cookies.ts';
import { shownBy, type WhyRefused, whyNoKey } from './why-refused.ts';

interface IdentifierParts {
  waybill: Waybill;
  auth: CheckedAuth;
  clock: Clock;
  logger: Logger;
}

/** One log line in this time tells that keys cannot be looked up, however many requests meet it. */
const TOLD_EVERY_MS = 10_000;

/** Finds out who sends a request: by the key or token in its headers, by its session, or by the user's own hook. */
export class Identifier {
  readonly #auth: CheckedAuth;
  readonly #sources: readonly { by: Identified['by']; keys: KeyLookup }[];
  readonly #jwt: JwtVerifier | undefined;
  readonly #parts: IdentifierParts;
  readonly sessions: SessionCookies | undefined;
  readonly #refused: RefusedCallers;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(parts: IdentifierParts) {
    const { waybill, auth, clock } = parts;
    const { given } = auth;
    const keys = auth.keys ? waybill.keys : undefined;
    this.#parts = parts;
    this.#refused = new RefusedCallers(clock, parts.logger);
    this.#auth = auth;
    this.#sources = [
      ...(keys ? [{ by: 'key', keys } as const] : []),
      ...(given ? [{ by: 'given', keys: given } as const] : []),
    ];
    this.#jwt = auth.jwt && new JwtVerifier(auth.jwt, clock);
    this.sessions = auth.sessions
      ? new SessionCookies(new SessionBook({ sessions: waybill.keys!.sessions!, keys, given, clock }))
      : undefined;
  }

  /** Who sends this request; refused with `unauthenticated`. */
  async of(c: Ctx): Promise<Identified> {
    const secret = secretIn(c.req);
    const found = secret === undefined ? await this.#ofSession(c) : await this.ofSecret(secret);
    return found ?? this.#ofHook(c, secret);
  }

  /** The answer to a caller that showed this secret or none. Why it is refused stands in the log alone. */
  async refusal(c: Ctx, secret: string | undefined): Promise<WaybillError> {
    await this.#refused.note(c, secret === undefined ? undefined : shownBy(secret), () => this.#whyNot(c, secret));
    return unauthenticated();
  }

  /** Who shows this key or token; null: nobody known. */
  async ofSecret(secret: string): Promise<Identified | null> {
    for (const { by, keys } of this.#sources) {
      const holder = await this.#asked(() => keys.identify(secret));
      if (holder) return fromKey(holder, by);
    }
    return this.#jwt ? this.#asked(() => this.#jwt!.identify(secret)) : null;
  }

  async #ofSession(c: Ctx): Promise<Identified | null> {
    const { sessions } = this;
    return sessions ? this.#asked(() => sessions.identify(c)) : null;
  }

  async #ofHook(c: Ctx, secret: string | undefined): Promise<Identified> {
    const { own } = this.#auth;
    const principal = own && (await this.#askedHook(c, own, secret));
    if (!principal) throw await this.refusal(c, secret);
    return { principal: checkedOfHook(principal), by: 'own', expiresAt: null };
  }

  async #askedHook(c: Ctx, own: Identify, secret: string | undefined): Promise<Principal> {
    const { method, path } = c.req;
    try {
      // Not the request itself: a hook that takes it apart would lose what its methods need.
      return await own({ method, path, header: (name) => c.req.header(name) });
    } catch (error) {
      if (WaybillError.from(error).code === 'unauthenticated') await this.refusal(c, secret);
      throw error;
    }
  }

  async #whyNot(c: Ctx, secret: string | undefined): Promise<WhyRefused> {
    if (secret === undefined) {
      if (this.sessions?.isShown(c)) return { reason: 'session_over' };
      return { reason: this.#auth.own ? 'hook' : 'nothing_shown' };
    }
    const { given, own } = this.#auth;
    const { keys } = this.#parts.waybill;
    return (
      (await given?.whyNot?.(secret)) ??
      (await this.#jwt?.whyNot(secret)) ??
      (this.#auth.keys && keys ? await whyNoKey(keys, secret, this.#parts.clock.now()) : undefined) ?? {
        reason: own ? 'hook' : 'no_key',
      }
    );
  }

  /** A store that is away says nothing about the key: the caller is asked to come back, not to look for another key. */
  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (cause) {
      const error = WaybillError.from(cause);
      if (error.code !== 'internal' && error.code !== 'unavailable' && error.code !== 'timeout') throw error;
      this.#tell(error.cause ?? error);
      throw new WaybillError('unavailable', 'Who sends this request cannot be looked up at this moment.', { cause });
    }
  }

  #tell(err: unknown): void {
    const now = this.#parts.clock.monotonic();
    if (now - this.#toldAt < TOLD_EVERY_MS) return;
    this.#toldAt = now;
    this.#parts.logger.warn({ err }, 'Callers could not be identified, and were answered with 503.');
  }
}

/** A hook that answers nonsense is a mistake of this server, and not of its caller. */
function checkedOfHook(principal: Principal): Principal {
  try {
    if (!isObject(principal)) throw new Error(`It is a ${typeof principal}.`);
    checkPrincipal(principal);
    return principal;
  } catch (cause) {
    const { message } = cause as Error;
    const what = new Error(`The auth hook of this server answered what is no principal: ${message}`, { cause });
    throw new WaybillError('internal', 'The auth hook answered what is no principal.', { cause: what });
  }
}
