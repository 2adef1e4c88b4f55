import { ALL_TENANTS, type Keys, keyIdIn, WaybillError } from '@waybill/core';

/** Why a caller is not known. For the log of the server: its answer is the same in every case. */
export const REFUSAL_REASONS = {
  nothing_shown: 'it shows neither a key nor a token nor a session',
  session_over: 'its session has ended, or never was',
  hook: 'the auth hook of this server does not know it',
  no_key: 'what it shows is no key of this server',
  key_unknown: 'there is no key with this id',
  key_wrong: 'the key has another secret',
  key_revoked: 'the key is revoked',
  key_expired: 'the key has expired',
  token_audience: 'the token is for another audience',
  token_issuer: 'the token is of another issuer',
  token_expired: 'the token has expired',
  token_early: 'the token does not count yet',
  token_signer: 'the token names a key that its issuer does not have',
  token_signature: 'the signature of the token is wrong',
  token_algorithm: 'the algorithm of the token is not allowed',
  token_incomplete: 'the token lacks one of the claims aud, iss, exp and sub',
  token_malformed: 'the token cannot be read',
} as const;

export type RefusalReason = keyof typeof REFUSAL_REASONS;

export interface WhyRefused {
  reason: RefusalReason;
  /** The id of the key that was shown. */
  key?: string;
}

/** What tells one caller of an address from another, and is no secret. */
export const shownBy = (secret: string): string => keyIdIn(secret) ?? 'a secret';

/** Asks the store past what is remembered of keys. Undefined: the secret has not the form of a key. */
export async function whyNoKey(keys: Keys, secret: string, now: number): Promise<WhyRefused | undefined> {
  const key = keyIdIn(secret);
  if (key === undefined) return undefined;
  try {
    const { revokedAt, expiresAt } = await keys.get(key, { tenant: ALL_TENANTS });
    if (revokedAt !== null) return { reason: 'key_revoked', key };
    return { reason: expiresAt !== null && expiresAt <= now ? 'key_expired' : 'key_wrong', key };
  } catch (error) {
    if (WaybillError.from(error).code === 'not_found') return { reason: 'key_unknown', key };
    throw error;
  }
}
