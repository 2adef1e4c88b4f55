import { WaybillError } from '@waybill/core';
import type { Asking } from '../http/port.ts';

const BEARER = /^Bearer +(\S+) *$/i;

/** The key or token in the headers of a request; undefined: there is none. */
export function secretIn(asking: Asking): string | undefined {
  const authorization = asking.header('Authorization');
  const bearer = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
  const key = asking.header('X-API-Key')?.trim() || undefined;
  // Which of them counts would be a guess, and a proxy may guess differently.
  if (bearer !== undefined && key !== undefined && bearer !== key) throw twoCredentials();
  // Another scheme may be for a proxy before this server.
  return bearer ?? key;
}

/** The same text whatever is wrong with a key, because the difference would help to guess one. */
export const unauthenticated = (): WaybillError =>
  new WaybillError('unauthenticated', 'This server does not know who sends the request.', {
    hint: 'Send a valid API key as Authorization: Bearer KEY, or as X-API-Key.',
  });

const twoCredentials = (): WaybillError =>
  new WaybillError('invalid_request', 'The headers Authorization and X-API-Key carry two different credentials.', {
    details: { headers: ['Authorization', 'X-API-Key'] },
    hint: 'Send one of them.',
  });
