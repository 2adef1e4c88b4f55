import { timingSafeEqual } from 'node:crypto';
import { WaybillError } from '@waybill/core';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { Ctx } from '../http/env.ts';
import type { Identified } from './identified.ts';
import type { SessionBook } from './session-book.ts';

const NAME = 'waybill_session';
export const CSRF_HEADER = 'X-CSRF-Token';
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether the caller speaks HTTPS, to this server or to a proxy that it trusts. */
const isHttps = (c: Ctx): boolean => c.env?.isHttps ?? new URL(c.req.url).protocol === 'https:';

/** With this prefix a browser takes the cookie over HTTPS only, and from no other name below the same domain. */
const prefixFor = (c: Ctx): { prefix?: 'host' } => (isHttps(c) ? { prefix: 'host' } : {});

/** A key or token, and who shows it. */
export interface Shown {
  who: Identified;
  secret: string;
}

/** Sessions as a browser carries them: in a cookie that no script can read and no other site can send. */
export class SessionCookies {
  readonly #book: SessionBook;

  constructor(book: SessionBook) {
    this.#book = book;
  }

  /** Null: the request has no session that counts. A change without the session's CSRF token is refused. */
  async identify(c: Ctx): Promise<Identified | null> {
    const token = this.#tokenIn(c);
    const found = token === undefined ? null : await this.#book.identify(token);
    if (found && !SAFE_METHODS.has(c.req.method)) checkCsrf(c.req.header(CSRF_HEADER), found.csrfToken!);
    return found;
  }

  /** Whether the request shows a session at all, one that counts or not. */
  isShown(c: Ctx): boolean {
    return this.#tokenIn(c) !== undefined;
  }

  async begin(c: Ctx, { who, secret }: Shown, forMs: number, now: number): Promise<Identified> {
    const before = this.#tokenIn(c);
    const { token, found } = await this.#book.create(who, secret, forMs);
    // Whoever logs in again leaves no session behind that nobody can end.
    if (before !== undefined) await this.#book.end(before);
    setCookie(c, NAME, token, {
      ...{ path: '/', httpOnly: true, sameSite: 'Strict', secure: isHttps(c), ...prefixFor(c) },
      maxAge: Math.max(1, Math.floor((found.expiresAt! - now) / 1_000)),
    });
    return found;
  }

  async end(c: Ctx): Promise<void> {
    const token = this.#tokenIn(c);
    if (token !== undefined) await this.#book.end(token);
    deleteCookie(c, NAME, { path: '/', secure: isHttps(c), ...prefixFor(c) });
  }

  #tokenIn(c: Ctx): string | undefined {
    return getCookie(c, NAME, prefixFor(c).prefix) || undefined;
  }
}

function checkCsrf(sent: string | undefined, expected: string): void {
  const [one, other] = [Buffer.from(sent ?? ''), Buffer.from(expected)];
  // By bytes: a header may hold characters that are more than one.
  if (one.length === other.length && timingSafeEqual(one, other)) return;
  throw new WaybillError('forbidden', `A change by a session needs its token in the header ${CSRF_HEADER}.`, {
    details: { header: CSRF_HEADER },
    hint: 'Send the csrf_token that GET /auth/session answers.',
  });
}
