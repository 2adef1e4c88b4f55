import { didYouMean } from './closest.ts';
import { parseDuration } from './duration.ts';
import { invalidField, WaybillError } from './errors.ts';
import type { Json, JsonObject } from './json.ts';

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const nameOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const wrongType = (field: string, expected: string, value: unknown): WaybillError =>
  invalidField(field, `must be ${expected}, not ${nameOf(value)}.`, { expected, received: nameOf(value) });

/** Deeper JSON is refused: it serves no job, and recursive code further on would run out of stack. */
export const MAX_JSON_DEPTH = 100;

/** Refuses JSON that is too deep, carries `__proto__` keys or numbers that would come back as null. Iterative, so that depth cannot hurt it either. */
export function checkJson(root: unknown): void {
  const open: [value: unknown, depth: number][] = [[root, 1]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, depth] = next;
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new WaybillError('invalid_payload', 'The JSON has a number that is too large to be kept.');
    }
    if (typeof value !== 'object' || value === null) continue;
    if (depth > MAX_JSON_DEPTH) {
      throw new WaybillError('invalid_payload', `The JSON is nested deeper than ${MAX_JSON_DEPTH} levels.`);
    }
    if (Array.isArray(value)) {
      for (const item of value) open.push([item, depth + 1]);
      continue;
    }
    for (const key of Object.keys(value)) {
      if (key === '__proto__') throw new WaybillError('invalid_payload', "The key '__proto__' is not allowed.");
      open.push([(value as JsonObject)[key], depth + 1]);
    }
  }
}

/** Neither control characters nor halves of characters, which databases refuse, nor what ends a line. */
const PRINTABLE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+$/u;
const MAX_PRINTABLE_BYTES = 512;

/** Refuses a name that is empty, too long for a key of any store, or not printable. */
export function checkPrintable(field: string, value: string): void {
  if (Buffer.byteLength(value) > MAX_PRINTABLE_BYTES) {
    throw invalidField(field, `must have at most ${MAX_PRINTABLE_BYTES} bytes.`, { max: MAX_PRINTABLE_BYTES });
  }
  if (!PRINTABLE.test(value)) throw invalidField(field, 'must be printable text of one line, and not empty.');
}

/**
 * Refuses what nobody would look at: without a compiler nothing else reports a misspelt name. `owner` is a call like
 * `wait()`, or what the object is.
 */
export function checkNames(owner: string, given: unknown, known: readonly string[]): void {
  const isCall = owner.endsWith('()');
  if (!isObject(given)) {
    const what = isCall ? `The options of ${owner}` : owner;
    throw new WaybillError('invalid_request', `${what} must be an object, not ${nameOf(given)}.`);
  }
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = didYouMean(unknown, known) || ` It takes ${known.join(', ')}.`;
  const word = isCall || owner.startsWith('The option') ? 'option ' : '';
  const message = `${owner} has no ${word}'${unknown.slice(0, 100)}'.${meant}`;
  throw new WaybillError('invalid_request', message, { details: { field: unknown.slice(0, 100) } });
}

/** Counts characters as JSON Schema does, which is how the interface is described: a pair of surrogates is one. */
const isLonger = (text: string, max: number): boolean =>
  text.length > max && (text.length > 2 * max || [...text].length > max);

/** Reads typed fields out of unknown JSON; every refusal names the field as the caller wrote it. */
export class Fields {
  readonly #object: JsonObject;
  readonly #path: string;

  constructor(value: unknown, path = '') {
    if (!isObject(value)) throw wrongType(path === '' ? 'body' : path, 'an object', value);
    this.#object = value;
    this.#path = path;
  }

  /** Null counts as absent: JSON writers often cannot leave a field out. */
  #at(key: string): Json | undefined {
    return Object.hasOwn(this.#object, key) ? (this.#object[key] ?? undefined) : undefined;
  }

  name(key: string): string {
    return this.#path === '' ? key : `${this.#path}.${key}`;
  }

  /** Whoever misspells a field learns of it. */
  refuseUnknown(known: readonly string[]): void {
    const unknown = Object.keys(this.#object).find((name) => !known.includes(name));
    if (unknown === undefined) return;
    const rule = `is not known here.${didYouMean(unknown, known)}`;
    throw invalidField(this.name(unknown.slice(0, 100)), rule, { allowed: known });
  }

  has(key: string): boolean {
    return this.#at(key) !== undefined;
  }

  /** Whether it was sent as null, which else counts as absent. */
  isNull(key: string): boolean {
    return Object.hasOwn(this.#object, key) && this.#object[key] === null;
  }

  value(key: string): Json | undefined {
    return this.#at(key);
  }

  string(key: string, { max = 1024 } = {}): string | undefined {
    const value = this.#at(key);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') throw wrongType(this.name(key), 'a string', value);
    if (isLonger(value, max)) throw invalidField(this.name(key), `must have at most ${max} characters.`, { max });
    return value;
  }

  requiredString(key: string, bounds?: { max?: number }): string {
    const value = this.string(key, bounds);
    if (value === undefined || value === '') throw invalidField(this.name(key), 'is required.');
    return value;
  }

  integer(key: string, { min, max }: { min: number; max: number }): number | undefined {
    const value = this.#at(key);
    if (value === undefined) return undefined;
    if (typeof value !== 'number') throw wrongType(this.name(key), 'an integer', value);
    if (!Number.isSafeInteger(value) || value < min || value > max) {
      throw invalidField(this.name(key), `must be an integer from ${min} to ${max}.`, { min, max });
    }
    return value;
  }

  number(key: string, { min, max }: { min: number; max: number }): number | undefined {
    const value = this.#at(key);
    if (value === undefined) return undefined;
    if (typeof value !== 'number') throw wrongType(this.name(key), 'a number', value);
    if (!(value >= min && value <= max)) {
      throw invalidField(this.name(key), `must be a number from ${min} to ${max}.`, { min, max });
    }
    return value;
  }

  boolean(key: string): boolean | undefined {
    const value = this.#at(key);
    if (value !== undefined && typeof value !== 'boolean') throw wrongType(this.name(key), 'true or false', value);
    return value;
  }

  object(key: string): JsonObject | undefined {
    const value = this.#at(key);
    if (value !== undefined && !isObject(value)) throw wrongType(this.name(key), 'an object', value);
    return value;
  }

  fields(key: string): Fields | undefined {
    const value = this.#at(key);
    return value === undefined ? undefined : new Fields(value, this.name(key));
  }

  array(key: string, { max }: { max: number }): Json[] | undefined {
    const value = this.#at(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw wrongType(this.name(key), 'an array', value);
    if (value.length > max) throw invalidField(this.name(key), `must have at most ${max} items.`, { max });
    return value;
  }

  strings(key: string, { max }: { max: number }): string[] | undefined {
    const values = this.array(key, { max });
    const wrong = values?.findIndex((value) => typeof value !== 'string') ?? -1;
    if (wrong >= 0) throw wrongType(`${this.name(key)}[${wrong}]`, 'a string', values![wrong]);
    return values as string[] | undefined;
  }

  oneOf<const T extends string>(key: string, allowed: readonly T[]): T | undefined {
    const value = this.string(key);
    if (value === undefined || (allowed as readonly string[]).includes(value)) return value as T | undefined;
    throw invalidField(this.name(key), `must be one of ${allowed.join(', ')}.`, { allowed });
  }

  /** Milliseconds of an ISO 8601 duration. */
  duration(key: string, { max }: { max: number }): number | undefined {
    const text = this.string(key);
    if (text === undefined) return undefined;
    const ms = parseDuration(text);
    if (ms === undefined) throw invalidField(this.name(key), 'must be an ISO 8601 duration like PT1.5S or PT5M.');
    if (ms > max) throw invalidField(this.name(key), `must be at most ${max} ms long.`, { max });
    return ms;
  }

  /** Milliseconds of a field that some clients send as an ISO 8601 duration, others as a number under `.._ms`. */
  durationOrMs(key: string, { max }: { max: number }): number | undefined {
    const ms = this.duration(key, { max });
    const sent = this.integer(`${key}_ms`, { min: 0, max });
    if (ms !== undefined && sent !== undefined && ms !== sent)
      throw invalidField(this.name(`${key}_ms`), `contradicts '${this.name(key)}': send one of them.`);
    return ms ?? sent;
  }

  /** The named fields, as far as they are there, or undefined when none is. */
  some(names: ReadonlySet<string>): JsonObject | undefined {
    let found: JsonObject | undefined;
    for (const name in this.#object) {
      if (!names.has(name)) continue;
      const value = this.#at(name);
      if (value === undefined) continue;
      found ??= {};
      found[name] = value;
    }
    return found;
  }

  /** The fields outside the given set, or undefined when there are none. */
  rest(known: ReadonlySet<string>): JsonObject | undefined {
    const others = Object.keys(this.#object).filter((key) => !known.has(key));
    if (others.length === 0) return undefined;
    return Object.fromEntries(others.map((key) => [key, this.#object[key]!]));
  }
}
