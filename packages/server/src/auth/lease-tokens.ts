import {
  type Clock,
  checkNames,
  configuredTokenKeys,
  invalidField,
  isObject,
  TokenSigner,
  type Waybill,
  withSignedLeases,
} from '@waybill/core';

export interface LeaseTokenOptions {
  /**
   * What tokens are signed with: at least 32 bytes. Two with a comma between them are both accepted, and the first one
   * signs, so that the secret can be changed while workers hold leases: all servers get `OLD,NEW` first, and then `NEW,OLD`.
   * @defaultValue a key that is made once and kept in the store
   */
  secret?: string;
}

const NAMES = ['secret'];

interface SigningParts {
  asksWho: boolean;
  clock: Clock;
}

/**
 * The port whose lease tokens are signed, where that is asked for or callers must show who they are. A port in between
 * servers keeps no key: the server behind it signs.
 */
export function signedPort(
  waybill: Waybill,
  given: LeaseTokenOptions | boolean | undefined,
  { asksWho, clock }: SigningParts,
): Waybill {
  const { secret } = checked(given);
  const kept = waybill.keys?.taskTokens;
  if (given === false) return waybill;
  if (secret !== undefined) return withSignedLeases(waybill, new TokenSigner(configuredTokenKeys(secret), clock));
  if (given === undefined && !asksWho) return waybill;
  if (kept) return withSignedLeases(waybill, new TokenSigner(kept, clock));
  if (given === undefined) return waybill;
  throw invalidField('leaseTokens', 'needs a secret: this engine keeps no key, the server behind it does.');
}

function checked(given: LeaseTokenOptions | boolean | undefined): LeaseTokenOptions {
  if (given === undefined || typeof given === 'boolean') return {};
  if (!isObject(given)) throw invalidField('leaseTokens', 'must be true, false or an object with a secret.');
  checkNames("The option 'leaseTokens'", given, NAMES);
  return given;
}
