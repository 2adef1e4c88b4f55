import { ALL_TENANTS, checkNames, checkTenant, WaybillError } from '@waybill/core';

/** Tokens of an issuer: who signs them, for whom, and what their claims mean here. */
export interface JwtOptions {
  /** As the claim `iss` says it. */
  issuer: string;
  /** As the claim `aud` says it, or one of several. */
  audience: string;
  /** The issuer's public keys: the address of its JWKS, or a file with one. */
  jwks: string;
  /** Whose things a token is about that names no tenant. `*`: its holder names one in each call. @defaultValue refused */
  tenant?: string;
  /** @defaultValue 'tenant' */
  tenantClaim?: string;
  /** A text of words or a list. Words that are no scopes of ours are ignored. @defaultValue 'scope' */
  scopesClaim?: string;
  /** @defaultValue 'queues' */
  queuesClaim?: string;
  /** @defaultValue 'types' */
  typesClaim?: string;
  /** Asymmetric ones only: with a shared secret, whoever checks a token could also make one. */
  algorithms?: readonly string[];
  /** How far the clocks may be apart. @defaultValue 30_000 */
  toleranceMs?: number;
  /** For fetching the keys. @defaultValue 5_000 */
  timeoutMs?: number;
  /** Keys are fetched again after this. @defaultValue 600_000 */
  maxAgeMs?: number;
  /** At least so long between two fetches, however many unknown keys are named. @defaultValue 30_000 */
  cooldownMs?: number;
}

const ASYMMETRIC: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const DEFAULTS = {
  ...{ tenantClaim: 'tenant', scopesClaim: 'scope', queuesClaim: 'queues', typesClaim: 'types' },
  algorithms: ASYMMETRIC,
  ...{ toleranceMs: 30_000, timeoutMs: 5_000, maxAgeMs: 600_000, cooldownMs: 30_000 },
};

const NAMES = ['issuer', 'audience', 'jwks', 'tenant', ...Object.keys(DEFAULTS)];

export type CheckedJwt = JwtOptions & Required<Omit<JwtOptions, 'tenant'>>;

/** Fills in the defaults, and refuses what would accept tokens of others. */
export function checkJwt(given: JwtOptions): CheckedJwt {
  checkNames("The option 'jwt'", given, NAMES);
  const checked = { ...DEFAULTS, ...given };
  for (const field of ['issuer', 'audience', 'jwks'] as const) {
    if (typeof given[field] === 'string' && given[field] !== '') continue;
    throw wrong(field, `The option 'jwt' needs '${field}', and it must not be empty.`);
  }
  const weak = checked.algorithms.find((one) => !ASYMMETRIC.includes(one));
  if (weak !== undefined || checked.algorithms.length === 0)
    throw wrong('algorithms', `The algorithms of tokens must be among ${ASYMMETRIC.join(', ')}.`);
  if (given.tenant !== undefined && given.tenant !== ALL_TENANTS) checkTenant(given.tenant, 'jwt.tenant');
  for (const field of ['toleranceMs', 'timeoutMs', 'maxAgeMs', 'cooldownMs'] as const) {
    if (Number.isSafeInteger(checked[field]) && checked[field] >= 0) continue;
    throw wrong(field, `'jwt.${field}' must be a whole number of milliseconds.`);
  }
  checkJwksAddress(given.jwks);
  return checked;
}

export const isAddress = (jwks: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(jwks);

/** Whoever could change the keys on their way could sign tokens: so plain HTTP is for this machine only. */
function checkJwksAddress(jwks: string): void {
  if (!isAddress(jwks)) return;
  const url = URL.canParse(jwks) ? new URL(jwks) : undefined;
  const isLocal = url !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)) return;
  throw wrong(
    'jwks',
    'The keys of an issuer must be at an https:// address or in a file. Plain http:// is for loopback only.',
  );
}

const wrong = (field: string, message: string): WaybillError =>
  new WaybillError('invalid_request', message, { details: { field: `jwt.${field}` } });
