import { isDay, isObject, type Json, type JsonObject, parseDuration, WaybillError } from '@waybill/core';

const wrong = (name: string, why: string, hint?: string): WaybillError =>
  new WaybillError('invalid_request', `${name} ${why}`, hint === undefined ? {} : { hint });

const QUOTING = 'Quote it for the shell, and texts for JSON: \'"text"\', \'{"a":1}\'.';

export function readJson(name: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw wrong(name, `is no JSON: ${text}`, QUOTING);
  }
}

export function readObject(name: string, text: string): JsonObject {
  const value = readJson(name, text);
  if (!isObject(value)) throw wrong(name, `must be a JSON object, not ${text}`, QUOTING);
  return value;
}

export function readInteger(name: string, text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw wrong(name, `must be a whole number, not '${text}'.`);
}

/** Pages are as large as a server gives them. */
export function readLimit(text: string | undefined): number {
  if (text === undefined) return 50;
  const limit = readInteger('--limit', text);
  if (limit >= 1 && limit <= 1_000) return limit;
  throw wrong('--limit', `must be from 1 to 1000, not ${text}.`);
}

export function readText(name: string, text: string): string {
  if (text !== '') return text;
  throw wrong(name, 'must not be empty.');
}

/** Never empty: a filter by a variable that the shell found unset would match everything, and some filters discard. */
export function readList(name: string, text: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  if (!items.includes('')) return items;
  throw wrong(name, 'must not be empty, nor have empty items.');
}

export function readListOf<const T extends string>(name: string, text: string, allowed: readonly T[]): T[] {
  const items = readList(name, text);
  const stranger = items.find((item) => !(allowed as readonly string[]).includes(item));
  if (stranger === undefined) return items as T[];
  throw wrong(name, `does not know '${stranger}'.`, `It takes ${allowed.join(', ')}; several with commas.`);
}

const SHORT = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;
const SHORT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const shortDuration = (text: string): number | undefined => {
  const [, count, unit] = SHORT.exec(text) ?? [];
  return count === undefined ? undefined : Math.round(Number(count) * SHORT_MS[unit!]!);
};

/** Milliseconds of 30s, 5m, 1.5h or of an ISO 8601 duration. */
export function readSpan(name: string, text: string): number {
  const ms = shortDuration(text) ?? parseDuration(text);
  if (ms !== undefined) return ms;
  throw wrong(name, `must be a duration, not '${text}'.`, 'Write it like 30s, 5m, 2h, 1d or PT5M.');
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:\d{2}))?$/;

/** A moment, or how long ago it was. */
export function readPast(name: string, text: string, now: number): number {
  const ago = shortDuration(text) ?? parseDuration(text);
  if (ago !== undefined) return now - ago;
  const isReal =
    RFC_3339.test(text) && isDay(Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8, 10)));
  const at = isReal ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw wrong(name, `must be a moment, not '${text}'.`, 'Write it like 2h, 7d, 2030-01-31 or 2030-01-31T12:00:00Z.');
}
