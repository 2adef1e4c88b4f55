import { type Fields, invalidField, isJobId } from '@waybill/core';

export const MAX_WORKER_ID = 256;
/** Room for the receipt of a queue message, which travels in the token. */
export const MAX_TOKEN = 4_096;
export const LONGEST_LEASE_MS = 366 * 86_400_000;

/** Fields that several worker calls share, read the same way in each. */
export function workerIdOf(body: Fields): { workerId?: string } {
  if (!body.has('worker_id')) return {};
  return { workerId: body.requiredString('worker_id', { max: MAX_WORKER_ID }) };
}

export function leaseTokenOf(body: Fields, isRequired = false): { leaseToken?: string } {
  if (!body.has('lease_token')) {
    if (!isRequired) return {};
    throw invalidField('lease_token', 'is required by this server: send the one that the fetch answered.');
  }
  return { leaseToken: body.requiredString('lease_token', { max: MAX_TOKEN }) };
}

export function leaseMsOf(body: Fields): { leaseMs?: number } {
  const leaseMs = body.integer('visibility_timeout_ms', { min: 1, max: LONGEST_LEASE_MS });
  return leaseMs === undefined ? {} : { leaseMs };
}

export function jobIdOf(body: Fields, key: string): string {
  const id = body.requiredString(key);
  if (!isJobId(id)) throw invalidField(body.name(key), 'must be a UUIDv7 in lower case.');
  return id;
}
