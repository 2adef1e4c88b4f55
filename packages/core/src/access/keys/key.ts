import { checkNames, checkPrintable } from '../../check.ts';
import { checkType } from '../../enqueue/envelope.ts';
import { invalidField } from '../../errors.ts';
import type { JsonObject } from '../../json.ts';
import { ALL_TENANTS } from '../../store/event-log.ts';
import { checkPrincipal, type Principal, SCOPES, type Scope } from '../principal.ts';

/** What a caller shows to say who they are. The secret itself is known to nobody but its holder. */
export interface ApiKey {
  /** Also stands in the secret, behind `wb_`. */
  id: string;
  /** For people. */
  name: string;
  /** Or `ALL_TENANTS`: its holder names the tenant in each call. */
  tenant: string;
  scopes: readonly Scope[];
  queues?: readonly string[];
  types?: readonly string[];
  /** Requests that a server takes from it in a minute. Absent: as many as that server takes from anybody. */
  requestsPerMinute?: number;
  createdAt: number;
  /** The id of the principal that made it, where that is known. */
  createdBy?: string;
  rotatedAt: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
  /** About a minute exact. */
  lastUsedAt: number | null;
}

export interface KeyRequest {
  name: string;
  scopes: readonly Scope[];
  queues?: readonly string[];
  types?: readonly string[];
  requestsPerMinute?: number;
  /** @defaultValue never */
  expiresAt?: number | null;
}

/** Who showed a secret. */
export interface KeyHolder {
  /** Its id is that of the key. */
  principal: Principal;
  name: string;
  requestsPerMinute?: number;
  expiresAt: number | null;
}

/** A key as it is kept. */
export interface StoredKey extends Omit<ApiKey, 'lastUsedAt'> {
  hash: string;
  /** The secret before the last rotation, for as long as it counts. */
  before: { hash: string; until: number } | null;
}

const FIELDS = ['name', 'scopes', 'queues', 'types', 'requestsPerMinute', 'expiresAt'];
const MOST_REQUESTS = 1_000_000;
/** Queues and types of one key, so that its record fits into every store. */
const MOST_NAMED = 100;
/** How long the secret before a rotation may count. */
const LONGEST_KEPT_MS = 366 * 86_400_000;

/** Refuses a request of which no key can be made. */
export function checkKeyRequest(request: KeyRequest, tenant: string, now: number): void {
  checkNames('keys.create()', request, FIELDS);
  const { name, scopes, queues, types, requestsPerMinute: most, expiresAt } = request;
  if (typeof name !== 'string') throw invalidField('name', 'is required.');
  checkPrintable('name', name);
  if (!Array.isArray(scopes) || scopes.length === 0)
    throw invalidField('scopes', `must name at least one of ${SCOPES.join(', ')}.`, { allowed: SCOPES });
  checkPrincipal(principalOf({ id: '', tenant, scopes, ...(queues && { queues }), ...(types && { types }) }));
  checkCount('queues', queues);
  checkCount('types', types);
  checkMetrics(scopes, tenant === ALL_TENANTS && queues === undefined && types === undefined);
  for (const [index, type] of (types ?? []).entries()) checkType(type, `types[${index}]`);
  if (most !== undefined && !(Number.isSafeInteger(most) && most >= 1 && most <= MOST_REQUESTS))
    throw invalidField('requestsPerMinute', `must be a whole number from 1 to ${MOST_REQUESTS}.`);
  if (expiresAt === undefined || expiresAt === null) return;
  if (!Number.isSafeInteger(expiresAt)) throw invalidField('expiresAt', 'must be a moment in milliseconds.');
  if (expiresAt <= now) throw invalidField('expiresAt', 'must lie in the future.');
}

/** The metrics of a server are of all tenants, queues and types. A narrower key would get 403 from `/metrics`. */
function checkMetrics(scopes: readonly Scope[], isWhole: boolean): void {
  if (isWhole || !scopes.includes('metrics')) return;
  throw invalidField('scopes', "may have 'metrics' only in a key for all tenants (*), without queues and types.");
}

function checkCount(field: string, names: readonly string[] | undefined): void {
  if (names?.length === 0) throw invalidField(field, 'must name at least one, or be left out.');
  if (names !== undefined && names.length > MOST_NAMED)
    throw invalidField(field, `must have at most ${MOST_NAMED} items.`, { max: MOST_NAMED });
}

/** How long the old secret counts beside the new one. */
export function checkKeepOld(ms: number): number {
  if (Number.isSafeInteger(ms) && ms >= 0 && ms <= LONGEST_KEPT_MS) return ms;
  throw invalidField('keepOldMs', `must be a whole number from 0 to ${LONGEST_KEPT_MS}.`, { max: LONGEST_KEPT_MS });
}

export const principalOf = ({
  id,
  tenant,
  scopes,
  queues,
  types,
}: Pick<ApiKey, 'id' | 'tenant' | 'scopes' | 'queues' | 'types'>): Principal => ({
  ...{ id, tenant, scopes },
  ...(queues && { queues }),
  ...(types && { types }),
});

/** Without what proves anything. */
export function shownKey({ hash: _, before: __, ...key }: StoredKey, lastUsedAt: number | null): ApiKey {
  return { ...key, lastUsedAt };
}

export const keyToRecord = (key: StoredKey): JsonObject => ({ ...key }) as unknown as JsonObject;

/** Null where the record is damaged: nobody holds such a key, and the others are listed without it. */
export function keyFromRecord(value: JsonObject): StoredKey | null {
  const key = value as unknown as StoredKey;
  const isWhole =
    typeof key.id === 'string' &&
    typeof key.hash === 'string' &&
    typeof key.tenant === 'string' &&
    Array.isArray(key.scopes);
  return isWhole ? key : null;
}

/** Who holds the secret with this hash by this key, if it counts at this moment; null: nobody. */
export function holderOf(key: StoredKey, isSame: (hash: string) => boolean, now: number): KeyHolder | null {
  const { hash, before, revokedAt, expiresAt, requestsPerMinute, name } = key;
  // Both are compared in any case, so that the time taken does not tell which one it was, nor whether there is an old one.
  const isNew = isSame(hash);
  const isOld = isSame(before?.hash ?? hash) && before !== null && now < before.until;
  if (!isNew && !isOld) return null;
  if (revokedAt !== null || (expiresAt !== null && expiresAt <= now)) return null;
  return {
    ...{ principal: principalOf(key), name, expiresAt },
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
  };
}
