import type { Json, JsonObject } from '@waybill/core';
import { RemoteError } from '../http/remote-error.ts';

/** What a JSON body would have held: functions, dates and absent values are no JSON, and protobuf knows none of them. */
export function plainJson<T>(value: T): T {
  try {
    return JSON.parse(JSON.stringify(value)) as T;
  } catch (error) {
    throw new RemoteError({ code: 'invalid_payload', message: 'The request cannot be written as JSON.' }, error);
  }
}

/** For protobuf, an empty text, list or number is an absent one. What would be taken for that is refused here. */
export function refused(field: string, rule: string): RemoteError {
  return new RemoteError({ code: 'invalid_request', message: `'${field}' ${rule}`, details: { field } });
}

export function textIn(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '') return value;
  const isAbsent = value === undefined || value === null || value === '';
  throw refused(field, isAbsent ? 'is required.' : `must be text, not ${typeof value}.`);
}

export function objectIn(value: unknown, field: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object' && !Array.isArray(value)) return value as JsonObject;
  throw refused(field, 'must be an object.');
}

export function listIn(value: unknown, field: string): Json[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value as Json[];
  throw refused(field, 'must be a list.');
}

/** Of a filter: an empty list matches nothing, and sent it would match everything. */
export function namesIn(value: readonly string[] | undefined, field: string): string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.length > 0) return [...value];
  throw refused(field, 'must be a list with at least one name.');
}

export function limitIn(limit: number | undefined, most: number): number | undefined {
  if (limit === undefined || (Number.isInteger(limit) && limit >= 1 && limit <= most)) return limit;
  throw refused('limit', `must be a whole number from 1 to ${most}.`);
}

/** Whole numbers of 32 bits; 0 would be an absent one. */
export function countIn(count: number | undefined, field: string): number {
  if (count === undefined) return 0;
  if (Number.isInteger(count) && count >= 1 && count <= 2 ** 31 - 1) return count;
  throw refused(field, 'must be a whole number from 1 on.');
}
