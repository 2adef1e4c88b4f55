import { invalidField } from '@waybill/core';

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** Milliseconds of an RFC 3339 time. */
export function readMoment(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw invalidField(field, 'must be an RFC 3339 time like 2030-01-31T12:00:00Z.');
  return ms;
}
