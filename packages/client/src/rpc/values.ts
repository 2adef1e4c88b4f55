import { fromJson, toJson } from '@bufbuild/protobuf';
import {
  type Duration,
  type ListValue,
  ListValueSchema,
  type Timestamp,
  timestampFromMs,
  type Value,
  ValueSchema,
} from '@bufbuild/protobuf/wkt';
import { invalidField, type Json } from '@waybill/core';

/** Deeper than any JSON that is kept: of that, each level takes up to three of protobuf. */
export const RECURSION = { recursionLimit: 1_000 };

export const toValue = (json: Json): Value => fromJson(ValueSchema, json, RECURSION);

export const toListValue = (json: readonly Json[]): ListValue => fromJson(ListValueSchema, [...json], RECURSION);

/** Refused, under the name of the field, where it holds what JSON has no word for. */
export function jsonOf(value: Value, field: string): Json {
  return converted(() => toJson(ValueSchema, value) as Json, field);
}

export function jsonListOf(list: ListValue, field: string): Json[] {
  return converted(() => toJson(ListValueSchema, list) as Json[], field);
}

function converted<T>(convert: () => T, field: string): T {
  try {
    return convert();
  } catch {
    throw invalidField(field, 'holds a value that is none, or a number that is not finite.');
  }
}

export const timeOf = (ms: number): Timestamp => timestampFromMs(ms);

/** The last moment that RFC 3339 can name. */
const LAST_MOMENT = 253_402_300_799_999;

/** Milliseconds; what is finer is cut off. */
export function msOf({ seconds, nanos }: Timestamp, field: string): number {
  const ms = Number(seconds) * 1_000 + Math.floor(nanos / 1e6);
  if (nanos >= 0 && nanos < 1e9 && ms >= 0 && ms <= LAST_MOMENT) return ms;
  throw invalidField(field, 'must lie between the years 1970 and 9999.');
}

/** Milliseconds of a length of time, as exactly as a number can tell it. */
export function durationMs({ seconds, nanos }: Duration, field: string): number {
  const ms = Number(seconds) * 1_000 + nanos / 1e6;
  if (Number.isFinite(ms) && ms >= 0 && ms <= Number.MAX_SAFE_INTEGER && Math.abs(nanos) < 1e9) return ms;
  throw invalidField(field, 'must be a length of time from 0 on.');
}

export function durationOf(ms: number): { seconds: bigint; nanos: number } {
  const seconds = Math.trunc(ms / 1_000);
  return { seconds: BigInt(seconds), nanos: Math.round((ms - seconds * 1_000) * 1e6) };
}

/** A 64-bit number that JavaScript can count with. */
export function countOf(value: bigint, field: string): number {
  const count = Number(value);
  if (Number.isSafeInteger(count)) return count;
  throw invalidField(field, 'must lie between -(2^53 - 1) and 2^53 - 1.');
}
