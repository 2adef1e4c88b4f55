import type { KeyHolder, Principal } from '@waybill/core';
import type { WhyRefused } from './why-refused.ts';

/** Who sends a request, and how that is known. */
export interface Identified {
  principal: Principal;
  /** `own`: by the hook of whoever runs the server. */
  by: 'key' | 'given' | 'jwt' | 'session' | 'own';
  /** What the session was made with. */
  via?: Identified['by'];
  /** Of the key, for people. */
  name?: string;
  /** Requests in a minute that this caller may send. Absent: as many as the server takes from anybody. */
  requestsPerMinute?: number;
  /** When the key, token or session ends; null: not by itself. */
  expiresAt: number | null;
  /** What a page must send back with every change. Only for sessions. */
  csrfToken?: string;
}

/** Looks up a secret that a caller shows. Null: it is not one of these keys. */
export interface KeyLookup {
  identify(secret: string): Promise<KeyHolder | null>;
  /** Why a secret that `identify` does not know is none, for the log of the server. Undefined: it cannot say. */
  whyNot?(secret: string): Promise<WhyRefused | undefined>;
}

export const fromKey = (
  { principal, name, requestsPerMinute, expiresAt }: KeyHolder,
  by: Identified['by'] = 'key',
): Identified => ({
  ...{ principal, by, name, expiresAt },
  ...(requestsPerMinute !== undefined && { requestsPerMinute }),
});

/** The same text for all requests of one caller. Keys of a file, tokens and keys of the store may have the same id. */
export const sameCaller = ({ by, via = by, principal: { id, tenant } }: Identified): string =>
  `${via}\n${tenant}\n${id}`;
