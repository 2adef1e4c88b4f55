import type { ApiKey, KeyRequest, Scope } from '@waybill/core';
import { present } from './present.ts';
import { fromRfc3339, toRfc3339 } from './time.ts';

/** A key as the API shows it: never with its secret. */
export interface WireKey {
  id: string;
  name: string;
  /** `*`: its holder names the tenant in each call. */
  tenant: string;
  scopes: Scope[];
  queues?: string[];
  types?: string[];
  requests_per_minute?: number;
  created_at: string;
  /** The id of the principal that made it. */
  created_by?: string;
  rotated_at?: string;
  expires_at?: string;
  revoked_at?: string;
  /** About a minute exact. */
  last_used_at?: string;
}

/** The only answer that has a secret. */
export interface WireKeyWithSecret {
  key: WireKey;
  secret: string;
}

export interface WireKeyRequest {
  name: string;
  scopes: readonly Scope[];
  /** Of the key. Absent: the tenant of the request. */
  tenant?: string;
  queues?: readonly string[];
  types?: readonly string[];
  requests_per_minute?: number;
  expires_at?: string;
}

const momentOf = (ms: number | null): string | null => (ms === null ? null : toRfc3339(ms));

export function keyToWire(key: ApiKey): WireKey {
  return {
    id: key.id,
    name: key.name,
    tenant: key.tenant,
    scopes: [...key.scopes],
    ...present('queues', key.queues && [...key.queues]),
    ...present('types', key.types && [...key.types]),
    ...present('requests_per_minute', key.requestsPerMinute),
    created_at: toRfc3339(key.createdAt),
    ...present('created_by', key.createdBy),
    ...present('rotated_at', momentOf(key.rotatedAt)),
    ...present('expires_at', momentOf(key.expiresAt)),
    ...present('revoked_at', momentOf(key.revokedAt)),
    ...present('last_used_at', momentOf(key.lastUsedAt)),
  };
}

export const keyFromWire = (wire: WireKey): ApiKey => ({
  id: wire.id,
  name: wire.name,
  tenant: wire.tenant,
  scopes: wire.scopes,
  ...present('queues', wire.queues),
  ...present('types', wire.types),
  ...present('requestsPerMinute', wire.requests_per_minute),
  createdAt: Date.parse(wire.created_at),
  ...present('createdBy', wire.created_by),
  rotatedAt: fromRfc3339(wire.rotated_at),
  expiresAt: fromRfc3339(wire.expires_at),
  revokedAt: fromRfc3339(wire.revoked_at),
  lastUsedAt: fromRfc3339(wire.last_used_at),
});

/** Unknown fields go along, for the server to refuse. A moment that is none does too. */
export function keyRequestToWire(request: KeyRequest): WireKeyRequest {
  const { requestsPerMinute, expiresAt, ...rest } = request;
  return {
    ...rest,
    ...present('requests_per_minute', requestsPerMinute),
    ...present('expires_at', isMoment(expiresAt) ? toRfc3339(expiresAt) : (expiresAt as string | null | undefined)),
  };
}

const isMoment = (value: unknown): value is number => typeof value === 'number' && Math.abs(value) <= 8.64e15;
