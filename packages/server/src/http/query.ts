import { Fields, invalidField, type JsonObject } from '@waybill/core';
import type { Ctx } from './env.ts';
import { readMoment } from './moment.ts';

const MAX_LISTED = 100;
export const MAX_LIMIT = 1_000;

/**
 * Reads typed parameters out of a query string. Unknown ones are refused: a filter with a typing error in its name
 * would otherwise match everything, and some of these filters delete.
 */
export class Query {
  readonly #params: URLSearchParams;
  readonly #fields: Fields;

  constructor(c: Ctx, known: readonly string[]) {
    this.#params = new URL(c.req.url).searchParams;
    for (const name of this.#params.keys()) {
      if (!known.includes(name)) {
        throw invalidField(name.slice(0, 100), 'is not a parameter of this call.', { allowed: known });
      }
    }
    this.#fields = new Fields(Object.fromEntries(this.#params) satisfies JsonObject);
  }

  string(name: string, bounds?: { max?: number }): string | undefined {
    return this.#fields.has(name) ? this.#fields.requiredString(name, bounds) : undefined;
  }

  /** As sent, be it empty; a parameter that is repeated is one list. */
  joined(name: string): string | undefined {
    return this.#params.has(name) ? this.#params.getAll(name).join(',') : undefined;
  }

  /** Comma-separated, repeated, or both. */
  list(name: string): string[] | undefined {
    const joined = this.joined(name);
    return joined === undefined ? undefined : listIn(name, joined);
  }

  /** Items of a closed set. */
  listOf<const T extends string>(name: string, allowed: readonly T[]): T[] | undefined {
    const joined = this.joined(name);
    return joined === undefined ? undefined : listIn(name, joined, allowed);
  }

  oneOf<const T extends string>(name: string, allowed: readonly T[]): T | undefined {
    return this.#fields.oneOf(name, allowed);
  }

  integer(name: string, bounds: { min: number; max: number }): number | undefined {
    const text = this.string(name, { max: 20 });
    if (text === undefined) return undefined;
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return new Fields({ [name]: number }).integer(name, bounds);
  }

  limit(fallback: number): number {
    return this.integer('limit', { min: 1, max: MAX_LIMIT }) ?? fallback;
  }

  /** What every call that lists something takes. */
  page(fallback: number): { limit: number; cursor?: string } {
    const limit = this.limit(fallback);
    const cursor = this.string('cursor');
    return { limit, ...(cursor !== undefined && { cursor }) };
  }

  moment(name: string): number | undefined {
    return readMoment(name, this.string(name));
  }
}

/** The items of a comma-separated text; of a closed set where one is given. */
export function listIn<const T extends string = string>(name: string, text: string, allowed?: readonly T[]): T[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.includes('')) throw invalidField(name, 'must not have empty items.');
  if (items.length > MAX_LISTED)
    throw invalidField(name, `must have at most ${MAX_LISTED} items.`, { max: MAX_LISTED });
  const wrong = allowed && items.find((item) => !(allowed as readonly string[]).includes(item));
  if (wrong === undefined) return items as T[];
  throw invalidField(name, `must be among ${allowed?.join(', ')}.`, { allowed, received: wrong.slice(0, 100) });
}
