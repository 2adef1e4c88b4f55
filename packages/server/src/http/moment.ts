import { invalidField, parseMoment } from '@waybill/core';

/** Milliseconds of an RFC 3339 time. */
export function readMoment(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseMoment(text);
  if (ms === undefined) throw invalidField(field, 'must be an RFC 3339 time like 2030-01-31T12:00:00Z.');
  return ms;
}
