import type { Job, JobKey } from '@waybill/core';
import { plainArray, textArray } from './arrays.ts';
import type { Base } from './base.ts';
import { keyOf } from './keys.ts';
import type { Queryable } from './link/link.ts';
import { fromRow, isId, type Row } from './rows.ts';

export async function get(base: Base, keys: readonly JobKey[], from: Queryable = base.link): Promise<(Job | null)[]> {
  const rows = await getRows(base, keys, from);
  const found = new Map(rows.map((row) => [keyOf(row[0], row[1]), row]));
  return keys.map(({ tenant, id }) => {
    const row = found.get(keyOf(tenant, id));
    return row ? fromRow(row) : null;
  });
}

/** In any order, and only those that are there. */
export async function getRows(base: Base, keys: readonly JobKey[], from: Queryable = base.link): Promise<Row[]> {
  const possible = keys.filter(({ id }) => isId(id));
  const tenants = textArray(possible.map(({ tenant }) => tenant));
  const ids = plainArray(possible.map(({ id }) => id));
  return ids === null ? [] : from.query<Row>(base.sql.get, [tenants, ids]);
}
