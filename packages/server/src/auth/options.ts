import { checkNames, type Waybill, WaybillError } from '@waybill/core';
import type { Identify } from '../http/port.ts';
import type { KeyLookup } from './identified.ts';
import type { JwtOptions } from './jwt-options.ts';

/** How callers show who they are. Each way that is given is tried; a caller that none of them knows is refused. */
export interface AuthOptions {
  /** Keys of the store, as `waybill keys create` makes them. @defaultValue true where the engine keeps keys */
  keys?: boolean;
  /** Keys that were given to this server by a file or the environment. */
  given?: KeyLookup;
  /** Tokens of an issuer. Needs the package `jose`. */
  jwt?: JwtOptions;
  /** Exchange a key for a cookie at `POST /auth/session`. @defaultValue true where the engine keeps keys */
  sessions?: boolean;
  /** How long a session lasts at most. @defaultValue 12 hours */
  sessionMs?: number;
  /** Asked last, about requests that show nothing that the ways above know. */
  own?: Identify;
}

const NAMES = ['keys', 'given', 'jwt', 'sessions', 'sessionMs', 'own'];
const DEFAULT_SESSION_MS = 12 * 3_600_000;
const LONGEST_SESSION_MS = 30 * 86_400_000;

export type CheckedAuth = AuthOptions & Required<Pick<AuthOptions, 'keys' | 'sessions' | 'sessionMs'>>;

/** Fills in the defaults, and refuses options that would let nobody in. */
export function checkAuth(given: Identify | AuthOptions, { keys: kept }: Waybill): CheckedAuth {
  if (typeof given === 'function') return { own: given, keys: false, sessions: false, sessionMs: DEFAULT_SESSION_MS };
  checkNames("The option 'auth'", given, NAMES);
  const { keys = kept !== undefined, sessions = kept?.sessions !== undefined, sessionMs = DEFAULT_SESSION_MS } = given;
  if (keys && kept === undefined) throw unkept('keys');
  if (sessions && kept?.sessions === undefined) throw unkept('sessions');
  if (!Number.isSafeInteger(sessionMs) || sessionMs < 60_000 || sessionMs > LONGEST_SESSION_MS) {
    throw new WaybillError('invalid_request', 'A session must last from a minute to 30 days.', {
      details: { field: 'sessionMs', min: 60_000, max: LONGEST_SESSION_MS },
    });
  }
  if (!keys && !given.given && !given.jwt && !given.own) {
    throw new WaybillError('invalid_request', "The option 'auth' names no way to show who one is.", {
      hint: 'Turn keys on, or give keys, an issuer of tokens or a hook of your own.',
    });
  }
  return { ...given, keys, sessions, sessionMs };
}

const unkept = (what: string): WaybillError =>
  new WaybillError('invalid_request', `This engine keeps no ${what}: another server behind it does.`, {
    hint: `Set auth.${what} to false.`,
  });
