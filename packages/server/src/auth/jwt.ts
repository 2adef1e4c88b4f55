import {
  type Clock,
  checkPrincipal,
  LATEST_MOMENT,
  loadOptional,
  type Principal,
  SCOPES,
  type Scope,
  shownFile,
  WaybillError,
} from '@waybill/core';
import type * as Jose from 'jose';
import type { Identified } from './identified.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { type CheckedJwt, checkJwt, isAddress, type JwtOptions } from './jwt-options.ts';
import type { RefusalReason, WhyRefused } from './why-refused.ts';

/** Longer ones are no tokens: headers as a whole are bounded to about as much. */
const LONGEST = 16_384;
const FORM = /^[\w-]+\.[\w-]+\.[\w-]*$/;

interface Parts {
  jose: typeof Jose;
  keys: IssuerKeys<Jose.LocalJWKSet>;
}

/** Knows the holders of an issuer's tokens. */
export class JwtVerifier {
  readonly #options: CheckedJwt;
  readonly #clock: Clock;
  #parts: Promise<Parts> | undefined;

  constructor(options: JwtOptions, clock: Clock) {
    this.#options = checkJwt(options);
    this.#clock = clock;
  }

  /** Null: no token of this issuer for this audience, or one that does not count now. Without our scopes: `forbidden`. */
  async identify(token: string): Promise<Identified | null> {
    if (token.length > LONGEST || !FORM.test(token)) return null;
    const claims = await this.#verified(token);
    if (typeof claims === 'string' || claims.sub === '') return null;
    return {
      ...{ principal: principalOf(claims, this.#options), by: 'jwt' },
      // Its session and its streams count for as long as the token itself. An issuer may write any number, and a time after the
      // year 2250 is none that can be shown.
      expiresAt:
        claims.exp === undefined ? null : Math.min(claims.exp * 1_000 + this.#options.toleranceMs, LATEST_MOMENT),
    };
  }

  /** What is wrong with a token that `identify` does not know. For the log alone: a caller could learn from it. */
  async whyNot(token: string): Promise<WhyRefused | undefined> {
    if (token.length > LONGEST || !FORM.test(token)) return undefined;
    const claims = await this.#verified(token);
    return { reason: typeof claims === 'string' ? claims : 'token_incomplete' };
  }

  /** Rejects where no token could ever be checked. An issuer that is away may come back, a file that is missing does not. */
  async ready(): Promise<void> {
    const { keys } = await this.#load();
    if (isAddress(this.#options.jwks)) return;
    await keys.current().catch((error: WaybillError) => {
      const { jwks } = this.#options;
      const { code } = error.cause as NodeJS.ErrnoException;
      throw new WaybillError(
        'invalid_request',
        `The file ${shownFile(jwks)} holds no keys of an issuer: ${code ?? 'no JWKS'}.`,
        {
          hint: 'Give a file with a JSON Web Key Set, or its https:// address.',
          cause: error.cause,
        },
      );
    });
  }

  #load(): Promise<Parts> {
    this.#parts ??= loadOptional({ name: 'jose', needs: 'Tokens of an issuer need' }, () => import('jose')).then(
      (jose) => ({ jose, keys: new IssuerKeys(this.#options, this.#clock, (set) => jose.createLocalJWKSet(set)) }),
    );
    return this.#parts;
  }

  /** A text: why it does not count. */
  async #verified(token: string): Promise<Jose.JWTPayload | RefusalReason> {
    const { jose, keys } = await this.#load();
    const { issuer, audience, algorithms, toleranceMs } = this.#options;
    let known: Jose.LocalJWKSet | undefined;
    const verify = async (): Promise<Jose.JWTPayload> => {
      known = await keys.current();
      const { payload } = await jose.jwtVerify(token, known, {
        ...{ issuer, audience, algorithms: [...algorithms], clockTolerance: toleranceMs / 1_000 },
        // A token without an end would count for ever, and cannot be taken back.
        ...{ requiredClaims: ['exp', 'sub'], currentDate: new Date(this.#clock.now()) },
      });
      return payload;
    };
    const attempt = async (): Promise<Jose.JWTPayload | RefusalReason> => {
      try {
        return await verify();
      } catch (error) {
        if (error instanceof jose.errors.JOSEError || error instanceof TypeError) return reasonOf(error);
        throw error;
      }
    };
    const first = await attempt();
    // Without the name of a key, one that is new is tried with the old ones, and does not fit them.
    const mayBeNew =
      first === 'token_signer' || (first === 'token_signature' && jose.decodeProtectedHeader(token).kid === undefined);
    return mayBeNew && (await keys.areNewerThan(known)) ? attempt() : first;
  }
}

const CLAIM_REASONS: Readonly<Record<string, RefusalReason>> = {
  ...{ aud: 'token_audience', iss: 'token_issuer', exp: 'token_expired', nbf: 'token_early' },
};

/** By the codes of the package: its messages may quote the token. */
function reasonOf(error: Error & { code?: string; claim?: string; reason?: string }): RefusalReason {
  switch (error.code) {
    case 'ERR_JWKS_NO_MATCHING_KEY':
    // Without the name of a key, exactly one must fit.
    case 'ERR_JWKS_MULTIPLE_MATCHING_KEYS':
      return 'token_signer';
    case 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED':
      return 'token_signature';
    case 'ERR_JOSE_ALG_NOT_ALLOWED':
      return 'token_algorithm';
    case 'ERR_JWT_EXPIRED':
      return 'token_expired';
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      return (error.reason !== 'missing' && CLAIM_REASONS[error.claim ?? '']) || 'token_incomplete';
    default:
      return 'token_malformed';
  }
}

function principalOf(claims: Jose.JWTPayload, options: CheckedJwt): Principal {
  const { tenantClaim, scopesClaim, queuesClaim, typesClaim } = options;
  const words = wordsIn(claims[scopesClaim]) ?? [];
  const scopes = SCOPES.filter((scope: Scope) => words.includes(scope));
  if (scopes.length === 0) {
    throw new WaybillError('forbidden', `The claim '${scopesClaim}' of the token names no scope of this server.`, {
      hint: `Ask the issuer for a token with at least one of ${SCOPES.join(', ')}.`,
    });
  }
  const queues = wordsIn(claims[queuesClaim]);
  const types = wordsIn(claims[typesClaim]);
  const principal = {
    ...{ id: claims.sub!, tenant: tenantOf(claims[tenantClaim], options), scopes },
    ...(queues && { queues }),
    ...(types && { types }),
  };
  try {
    checkPrincipal(principal);
  } catch (cause) {
    const { message } = WaybillError.from(cause);
    throw new WaybillError('forbidden', `The claims of the token do not fit together: ${message}`, { cause });
  }
  return principal;
}

/** An operator is named by whoever runs the server, not by a claim that a tenant's own admin may be able to set. */
function tenantOf(claim: unknown, { tenant, tenantClaim }: CheckedJwt): string {
  if (claim === undefined && tenant !== undefined) return tenant;
  if (typeof claim === 'string' && /^[\x21-\x7e]{1,128}$/.test(claim) && claim !== '*' && !claim.startsWith('~'))
    return claim;
  throw new WaybillError('forbidden', `The claim '${tenantClaim}' of the token names no tenant.`, {
    hint: 'Ask the issuer for a token that names one, or start the server with --jwt-tenant.',
  });
}

/** Undefined: there is no such claim. Anything but words is none too, and narrows to nothing. */
function wordsIn(claim: unknown): string[] | undefined {
  if (claim === undefined || claim === null) return undefined;
  if (typeof claim === 'string') return claim.split(/[\s,]+/).filter((word) => word !== '');
  return Array.isArray(claim) ? claim.filter((word) => typeof word === 'string') : [];
}
