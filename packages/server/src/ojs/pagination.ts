import { invalidField, type Page } from '@waybill/core';
import { MAX_LIMIT, type Query } from '../http/query.ts';

/** Both names of the cursor: this API's first one, and that of the specification's text. */
export interface WirePagination {
  limit: number;
  has_more: boolean;
  cursor?: string;
  next_cursor?: string;
  offset?: number;
  /** Of all pages; counting stops at a bound. Only where counting is cheap. */
  total?: number;
}

/** Pass `cursor` back to go on; on the last page there is none. */
export const pagination = (
  limit: number,
  cursor: string | undefined,
  more: Pick<WirePagination, 'offset' | 'total'> = {},
): WirePagination => ({
  limit,
  has_more: cursor !== undefined,
  ...(cursor !== undefined && { cursor, next_cursor: cursor }),
  ...more,
});

/** Who wants to go further reads on by the cursor, which costs the same on every page. */
export const MAX_OFFSET = 10_000;

export const PAGE_PARAMETERS = ['limit', 'cursor', 'offset'] as const;

export interface PageAsked {
  limit: number;
  offset: number;
  cursor?: string;
}

/** What public clients send: a cursor, or how many to pass over. */
export function pageAsked(query: Query, fallback: number): PageAsked {
  const page = query.page(fallback);
  const offset = query.integer('offset', { min: 0, max: MAX_OFFSET }) ?? 0;
  if (offset > 0 && page.cursor !== undefined) throw invalidField('offset', "contradicts 'cursor': send one of them.");
  return { ...page, offset };
}

/** The page behind the first `offset` items, which are read and dropped. */
export async function pageBehind<T>(
  read: (page: { limit: number; cursor?: string }) => Promise<Page<T>>,
  { limit, offset, cursor: first }: PageAsked,
): Promise<Page<T>> {
  let left = offset;
  let cursor = first;
  while (left > 0) {
    const passed = await read({ limit: Math.min(left, MAX_LIMIT), ...(cursor !== undefined && { cursor }) });
    left -= passed.items.length;
    cursor = passed.cursor;
    if (cursor === undefined) return { items: [] };
  }
  return read({ limit, ...(cursor !== undefined && { cursor }) });
}

/** A page of what is in memory as a whole; all of it when no limit is asked for. The cursor is a place in it. */
export function pageOf<T>(query: Query, all: readonly T[]): { items: T[]; pagination: WirePagination } {
  const { limit, offset, cursor } = pageAsked(query, Math.max(1, all.length));
  const from = cursor === undefined ? offset : placeIn(cursor);
  const end = from + limit;
  return {
    items: all.slice(from, end),
    pagination: pagination(limit, end < all.length ? String(end) : undefined, { offset: from, total: all.length }),
  };
}

function placeIn(cursor: string): number {
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw invalidField('cursor', 'is none that this call has answered.');
}
