import { createHmac } from 'node:crypto';
import { type Clock, hashOfSecret, type JsonObject, type Keys, type Principal, type Sessions } from '@waybill/core';
import { fromKey, type Identified, type KeyLookup } from './identified.ts';
import { seal, unseal } from './sealed-secret.ts';

/** A session that ended on another server counts for this much longer here. */
export const SESSION_CACHED_MS = 5_000;
const MOST_CACHED = 10_000;
const TOKEN_LENGTH = 43;

interface SessionBookParts {
  sessions: Sessions;
  /** Absent: no keys of the store. */
  keys: Keys | undefined;
  given: KeyLookup | undefined;
  clock: Clock;
}

/** What is stored of a session: neither its token nor the key that it was made with. */
interface Session {
  by: Identified['by'];
  principal: Principal;
  name?: string;
  requestsPerMinute?: number;
  expiresAt: number;
  /** Of the secret of a key of the store, as the key has it. */
  secretHash?: string;
  /** A given key, which can be asked about by itself alone. It is locked with the token, and so of no use without it. */
  sealed?: string;
}

interface Cached {
  at: number;
  session: Promise<Session | null>;
}

/** Who a session stands for. It ends with its key, and may do what the key may do now. */
export class SessionBook {
  readonly #parts: SessionBookParts;
  readonly #cached = new Map<string, Cached>();

  constructor(parts: SessionBookParts) {
    this.#parts = parts;
  }

  /** Never longer than the key or token that it stands for. */
  async create(who: Identified, secret: string, forMs: number): Promise<{ token: string; found: Identified }> {
    const now = this.#parts.clock.now();
    const { principal, by, name, requestsPerMinute } = who;
    const expiresAt = Math.min(now + forMs, who.expiresAt ?? Number.POSITIVE_INFINITY);
    const session: Session = {
      ...{ by, principal, expiresAt },
      ...(name !== undefined && { name }),
      ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    };
    const contentFor = (token: string): Session => ({
      ...session,
      ...(by === 'given' && { sealed: seal(secret, token) }),
      ...(by === 'key' && { secretHash: hashOfSecret(secret) }),
    });
    const { token } = await this.#parts.sessions.create((of) => contentFor(of) as unknown as JsonObject, expiresAt);
    return { token, found: { ...who, by: 'session', via: by, expiresAt, csrfToken: csrfTokenOf(token) } };
  }

  /** Null: there is no such session, or its key does not count any more. */
  async identify(token: string): Promise<Identified | null> {
    // What is remembered must be small.
    if (token.length !== TOKEN_LENGTH) return null;
    const now = this.#parts.clock.now();
    let cached = this.#cached.get(token);
    // A clock that was set back must not make an ended session count for longer.
    if (cached === undefined || Math.abs(now - cached.at) >= SESSION_CACHED_MS) {
      cached = { at: now, session: this.#find(token) };
      this.#remember(token, cached);
    }
    const session = await cached.session;
    if (session === null) return null;
    // Asked each time and not remembered: keys are remembered already, and two ages would add up.
    const found = await this.#ofNow(session, token);
    if (found === null) return null;
    const expiresAt = Math.min(session.expiresAt, found.expiresAt ?? Number.POSITIVE_INFINITY);
    if (expiresAt <= now) return null;
    return { ...found, by: 'session', via: found.by, expiresAt, csrfToken: csrfTokenOf(token) };
  }

  async end(token: string): Promise<void> {
    await this.#parts.sessions.end(token);
    this.#cached.delete(token);
  }

  #remember(token: string, cached: Cached): void {
    this.#cached.delete(token);
    this.#cached.set(token, cached);
    if (this.#cached.size > MOST_CACHED) this.#cached.delete(this.#cached.keys().next().value!);
    // A store that is away must not be remembered as an unknown session.
    cached.session.catch(() => {
      if (this.#cached.get(token) === cached) this.#cached.delete(token);
    });
  }

  async #find(token: string): Promise<Session | null> {
    return (await this.#parts.sessions.find(token)) as unknown as Session | null;
  }

  /** What the key may do now; null: it does not count any more. */
  async #ofNow(session: Session, token: string): Promise<Identified | null> {
    const { by, sealed = '' } = session;
    if (by === 'key') return this.#ofKey(session);
    // A token of an issuer cannot be taken back either.
    if (by !== 'given') return fromSession(session);
    const secret = unseal(sealed, token);
    const holder = secret === undefined ? null : await this.#parts.given?.identify(secret);
    return holder ? fromKey(holder, by) : null;
  }

  /** It ends with the secret that it was made with: a key may be rotated because that got out. */
  async #ofKey({ principal: { id }, secretHash = '' }: Session): Promise<Identified | null> {
    const { keys, sessions } = this.#parts;
    const holder = keys ? await sessions.holderBy(id, secretHash) : null;
    return holder && fromKey(holder);
  }
}

const fromSession = ({ principal, by, name, requestsPerMinute, expiresAt }: Session): Identified => ({
  ...{ principal, by, expiresAt },
  ...(name !== undefined && { name }),
  ...(requestsPerMinute !== undefined && { requestsPerMinute }),
});

/** Bound to the session, and nothing that could be used as its token. */
const csrfTokenOf = (token: string): string => createHmac('sha256', token).update('csrf').digest('base64url');
