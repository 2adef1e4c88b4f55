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

  /** Comma-separated, repeated, or both. */
  list(name: string): string[] | undefined {
    if (!this.#params.has(name)) return undefined;
    const items = this.#params.getAll(name).flatMap((value) => value.split(',').map((item) => item.trim()));
    if (items.includes('')) throw invalidField(name, 'must not have empty items.');
    if (items.length > MAX_LISTED)
      throw invalidField(name, `must have at most ${MAX_LISTED} items.`, { max: MAX_LISTED });
    return items;
  }

  /** Items of a closed set. */
  listOf<const T extends string>(name: string, allowed: readonly T[]): T[] | undefined {
    const items = this.list(name);
    const wrong = items?.find((item) => !(allowed as readonly string[]).includes(item));
    if (wrong === undefined) return items as T[] | undefined;
    throw invalidField(name, `must be among ${allowed.join(', ')}.`, { allowed, received: wrong.slice(0, 100) });
  }

  oneOf<const T extends string>(name: string, allowed: readonly T[]): T | undefined {
    return this.#fields.oneOf(name, allowed);
  }

  limit(fallback: number): number {
    const text = this.string('limit', { max: 20 });
    if (text === undefined) return fallback;
    const limit = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return new Fields({ limit }).integer('limit', { min: 1, max: MAX_LIMIT }) ?? fallback;
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
