import { checkJson, type Json } from '@waybill/core';

/** What is left of a type after a trip through JSON: a Date arrives as text, undefined as null, functions not at all. */
export type Jsonified<T> = [Json] extends [T]
  ? // Any JSON, as of a program: to look into the type would never end.
    Json
  : T extends string | number | boolean | null
    ? T
    : T extends void
      ? null
      : T extends { toJSON(): infer Plain }
        ? Jsonified<Plain>
        : // biome-ignore lint/complexity/noBannedTypes: every function is meant here
          T extends bigint | symbol | Function
          ? never
          : T extends readonly unknown[]
            ? { [Index in keyof T]: Jsonified<T[Index]> }
            : T extends object
              ? { [Key in keyof T as Key extends string | number ? Key : never]: Carried<T[Key]> }
              : Json;

/** A field that may be missing stays so: JSON leaves undefined fields out instead of writing null. */
type Carried<T> = undefined extends T ? Jsonified<Exclude<T, undefined>> | undefined : Jsonified<T>;

export type JsonAnswer = { ok: true; value: Json; bytes: number } | { ok: false; problem: string };

/**
 * The value as it will arrive on the other side. What JSON would drop or bend without a word (NaN, a Map, a function)
 * is a problem here, since whoever waits for it would find something else than was sent.
 */
export function toJson(value: unknown): JsonAnswer {
  if (value === undefined || value === null) return NOTHING;
  try {
    const text = JSON.stringify(value, refuseForeign);
    const parsed = JSON.parse(text) as Json;
    checkJson(parsed);
    return { ok: true, value: parsed, bytes: Buffer.byteLength(text) };
  } catch (error) {
    return { ok: false, problem: problemOf(error) };
  }
}

const NOTHING: JsonAnswer = { ok: true, value: null, bytes: 4 };

class Foreign extends Error {}

function refuseForeign(key: string, value: unknown): unknown {
  const kind = foreignKind(value);
  if (kind === null) return value;
  throw new Foreign(`${key === '' ? 'it' : `'${key}'`} is ${kind}`);
}

function foreignKind(value: unknown): string | null {
  switch (typeof value) {
    case 'bigint':
      return 'a BigInt';
    case 'function':
      return 'a function';
    case 'symbol':
      return 'a symbol';
    case 'number':
      return Number.isFinite(value) ? null : String(value);
    case 'object':
      return value instanceof Map ? 'a Map' : value instanceof Set ? 'a Set' : null;
    default:
      return null;
  }
}

function problemOf(error: unknown): string {
  if (error instanceof RangeError) return 'it is nested too deep';
  const message = error instanceof Error ? error.message : String(error);
  return message.includes('circular') ? 'it refers to itself' : message;
}
