import { plainArray, textArray } from './arrays.ts';
import type { Base } from './base.ts';
import { keyOf } from './keys.ts';
import type { Queryable } from './link/link.ts';

export interface UniqueName {
  tenant: string;
  key: string;
}

/** Locks unique keys and answers their owners, where they have one. Keys that nobody had are made, to be locked. */
export async function lockKeys(
  base: Base,
  tx: Queryable,
  names: readonly UniqueName[],
): Promise<Map<string, string | null>> {
  const distinct = new Set(names.map(({ tenant, key }) => keyOf(tenant, key)));
  if (distinct.size === 0) return new Map();
  const cells = [textArray(names.map(({ tenant }) => tenant)), textArray(names.map(({ key }) => key))];
  let rows = await tx.query<[string, string, string | null]>(base.sql['unique-lock'], cells);
  if (rows.length < distinct.size) {
    await tx.query(base.sql['unique-note'], cells);
    rows = await tx.query(base.sql['unique-lock'], cells);
  }
  return new Map(rows.map(([tenant, key, owner]) => [keyOf(tenant, key), owner]));
}

export async function giveKeys(
  base: Base,
  tx: Queryable,
  given: readonly { tenant: string; key: string; id: string }[],
): Promise<void> {
  if (given.length === 0) return;
  await tx.query(base.sql['unique-take'], [
    textArray(given.map(({ tenant }) => tenant)),
    textArray(given.map(({ key }) => key)),
    plainArray(given.map(({ id }) => id)),
  ]);
}
