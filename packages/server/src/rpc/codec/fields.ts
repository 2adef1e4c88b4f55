import type { Duration } from '@bufbuild/protobuf/wkt';
import { durationMs } from '@waybill/client/rpc';
import { invalidField, isJobId } from '@waybill/core';
import { LONGEST_LEASE_MS, MAX_TOKEN, MAX_WORKER_ID } from '../../ojs/fields.ts';

/** Fields that several calls share, held to the bounds of the HTTP interface. Absent and empty are the same. */
export function workerIdOf(workerId: string | undefined): { workerId?: string } {
  if (workerId === undefined || workerId === '') return {};
  if (workerId.length > MAX_WORKER_ID)
    throw invalidField('worker_id', `must have at most ${MAX_WORKER_ID} characters.`);
  return { workerId };
}

export function leaseTokenOf(leaseToken: string | undefined, isRequired = false): { leaseToken?: string } {
  if (leaseToken === undefined || leaseToken === '') {
    if (!isRequired) return {};
    throw invalidField('lease_token', 'is required by this server: send the one that the claim answered.');
  }
  if (leaseToken.length > MAX_TOKEN) throw invalidField('lease_token', `must have at most ${MAX_TOKEN} characters.`);
  return { leaseToken };
}

export function leaseMsOf(lease: Duration | undefined, field: string): { leaseMs?: number } {
  if (!lease) return {};
  const leaseMs = Math.round(durationMs(lease, field));
  if (leaseMs >= 1 && leaseMs <= LONGEST_LEASE_MS) return { leaseMs };
  throw invalidField(field, 'must be at least a millisecond and at most 366 days.');
}

/** 0: as long as it was agreed on. */
export function secondsOf(seconds: number, field: string): { leaseMs?: number } {
  if (seconds === 0) return {};
  return leaseMsOf({ seconds: BigInt(seconds), nanos: 0 } as Duration, field);
}

export function jobIdOf(id: string, field = 'job_id'): string {
  if (isJobId(id)) return id;
  throw invalidField(field, id === '' ? 'is required.' : 'must be a UUIDv7 in lower case.');
}
