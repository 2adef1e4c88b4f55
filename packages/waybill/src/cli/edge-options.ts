import { WaybillError } from '@waybill/core';
import { shownWord } from '../connect/shown-address.ts';
import { misuse, type Options, type Values } from './command.ts';
import type { Io } from './io.ts';

/** Who may call a server, and over what. */
export interface EdgeFlags {
  /** Undefined: beyond loopback only. */
  auth?: boolean;
  /** Keys that no store keeps. */
  keys?: { file: string } | { text: string };
  /** What lease tokens are signed with, instead of a key of the store. */
  tokenSecret?: { file: string } | { text: string };
  jwt?: { issuer: string; audience: string; jwks: string; tenant?: string };
  sessionMs?: number;
  requestsPerMinute?: number;
  openRequests?: number;
  corsOrigins?: string[];
  tls?: { cert: string; key: string };
  /** A list: only these are proxies. */
  trustProxy?: boolean | string[];
}

export const EDGE_OPTIONS = {
  auth: { about: 'ask for keys on loopback too', default: 'WAYBILL_AUTH, beyond loopback' },
  'no-auth': { about: 'take calls without a key, also beyond loopback' },
  keys: { value: 'FILE', about: 'take keys of this file too', default: 'WAYBILL_KEYS: the keys themselves' },
  'token-secret': {
    value: 'FILE',
    about: 'sign lease tokens with the secret in this file',
    default: 'WAYBILL_TOKEN_SECRET: itself; a key in the store',
  },
  'jwt-issuer': { value: 'ISS', about: 'take tokens of this issuer', default: 'WAYBILL_JWT_ISSUER, none' },
  'jwt-audience': { value: 'AUD', about: 'that are for this audience', default: 'WAYBILL_JWT_AUDIENCE' },
  'jwt-jwks': { value: 'URL', about: 'its public keys: https://.. or FILE', default: 'WAYBILL_JWT_JWKS' },
  'jwt-tenant': { value: 'NAME', about: 'of tokens that name none', default: 'WAYBILL_JWT_TENANT, refused' },
  'session-hours': { value: 'N', about: 'how long a session lasts', default: 'WAYBILL_SESSION_HOURS, 12' },
  'requests-per-minute': {
    value: 'N',
    about: 'of each key that has no limit of its own',
    default: 'WAYBILL_REQUESTS_PER_MINUTE, any',
  },
  'open-requests': {
    value: 'N',
    about: 'requests of each key under way at once',
    default: 'WAYBILL_OPEN_REQUESTS, half of the connections',
  },
  'cors-origin': {
    value: 'URL',
    several: true,
    about: 'let pages of this origin call; may be repeated',
    default: 'WAYBILL_CORS_ORIGINS, none',
  },
  'tls-cert': { value: 'FILE', about: 'speak HTTPS with this certificate', default: 'WAYBILL_TLS_CERT, HTTP' },
  'tls-key': { value: 'FILE', about: 'and its key; changed files are read again', default: 'WAYBILL_TLS_KEY' },
  'trust-proxy': { about: 'believe X-Forwarded-* of proxies', default: 'WAYBILL_TRUST_PROXY, no' },
  'proxy-address': {
    value: 'RANGE',
    several: true,
    about: 'who is a proxy; may be repeated',
    default: 'WAYBILL_PROXY_ADDRESSES, private addresses',
  },
} as const satisfies Options;

/** Flags beat the environment. What does not go together is refused. */
export function readEdgeOptions(values: Values<typeof EDGE_OPTIONS>, env: Io['env']): EdgeFlags {
  const named = (name: string): string | undefined => env[name] || undefined;
  const hours = values['session-hours'] ?? named('WAYBILL_SESSION_HOURS');
  const requests = values['requests-per-minute'] ?? named('WAYBILL_REQUESTS_PER_MINUTE');
  const open = values['open-requests'] ?? named('WAYBILL_OPEN_REQUESTS');
  const origins = listIn(values['cors-origin']?.join(',') ?? named('WAYBILL_CORS_ORIGINS') ?? '');
  const keys = keysIn(values.keys, named('WAYBILL_KEYS'));
  const tokenSecret = keysIn(values['token-secret'], named('WAYBILL_TOKEN_SECRET'));
  const jwt = jwtIn(values, named);
  const auth = authIn(values, named('WAYBILL_AUTH'), keys !== undefined || jwt !== undefined);
  const tls = bothOf(values['tls-cert'] ?? named('WAYBILL_TLS_CERT'), values['tls-key'] ?? named('WAYBILL_TLS_KEY'));
  const proxies = listIn(values['proxy-address']?.join(',') ?? named('WAYBILL_PROXY_ADDRESSES') ?? '');
  const trusts = values['trust-proxy'] ?? isOn('WAYBILL_TRUST_PROXY', named('WAYBILL_TRUST_PROXY')) ?? false;
  if (values['proxy-address'] !== undefined && !trusts) throw misuse('--proxy-address needs --trust-proxy.');
  return {
    ...(auth !== undefined && { auth }),
    ...(keys && { keys }),
    ...(tokenSecret && { tokenSecret }),
    ...(jwt && { jwt }),
    ...(hours !== undefined && { sessionMs: readCount('--session-hours', hours, 720) * 3_600_000 }),
    ...(requests !== undefined && { requestsPerMinute: readCount('--requests-per-minute', requests, 1_000_000) }),
    ...(open !== undefined && { openRequests: readCount('--open-requests', open, 1_000_000) }),
    ...(origins.length > 0 && { corsOrigins: origins }),
    ...(tls && { tls }),
    ...(trusts && { trustProxy: proxies.length > 0 ? proxies : true }),
  };
}

type Named = (name: string) => string | undefined;

/** Whoever gives keys or an issuer wants them to be asked for, on loopback too. */
function authIn(values: Values<typeof EDGE_OPTIONS>, env: string | undefined, hasWays: boolean): boolean | undefined {
  const { auth, 'no-auth': noAuth } = values;
  if (auth && noAuth) throw misuse('--auth and --no-auth exclude each other.');
  if (noAuth && (values.keys !== undefined || values['jwt-issuer'] !== undefined))
    throw misuse('--no-auth asks nobody for a key: leave out --keys and --jwt-issuer.');
  if (noAuth) return false;
  return auth || hasWays || isOn('WAYBILL_AUTH', env) ? true : undefined;
}

const keysIn = (file: string | undefined, text: string | undefined): EdgeFlags['keys'] =>
  file !== undefined ? { file } : text !== undefined ? { text } : undefined;

function jwtIn(values: Values<typeof EDGE_OPTIONS>, named: Named): EdgeFlags['jwt'] {
  const issuer = values['jwt-issuer'] ?? named('WAYBILL_JWT_ISSUER');
  const audience = values['jwt-audience'] ?? named('WAYBILL_JWT_AUDIENCE');
  const jwks = values['jwt-jwks'] ?? named('WAYBILL_JWT_JWKS');
  const tenant = values['jwt-tenant'] ?? named('WAYBILL_JWT_TENANT');
  if ([issuer, audience, jwks, tenant].every((one) => one === undefined)) return undefined;
  if (issuer === undefined || audience === undefined || jwks === undefined)
    throw misuse('Tokens need all of --jwt-issuer, --jwt-audience and --jwt-jwks.');
  return { issuer, audience, jwks, ...(tenant !== undefined && { tenant }) };
}

function bothOf(cert: string | undefined, key: string | undefined): EdgeFlags['tls'] {
  if (cert === undefined && key === undefined) return undefined;
  if (cert !== undefined && key !== undefined) return { cert, key };
  throw misuse('TLS needs both --tls-cert and --tls-key.');
}

const ON = ['1', 'true', 'on', 'yes'];
const OFF = ['0', 'false', 'off', 'no'];

function isOn(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (ON.includes(text.toLowerCase())) return true;
  if (OFF.includes(text.toLowerCase())) return false;
  throw new WaybillError('invalid_request', `${name} must be true or false, not '${shownWord(text)}'.`);
}

/** Separated by commas, as everywhere in the command. */
export const listIn = (text: string): string[] => text.split(',').flatMap((name) => name.trim() || []);

function readCount(name: string, text: string, most: number): number {
  const count = Number(text);
  if (/^\d{1,7}$/.test(text) && count >= 1 && count <= most) return count;
  throw new WaybillError('invalid_request', `${name} must be from 1 to ${most}, not '${shownWord(text)}'.`);
}
