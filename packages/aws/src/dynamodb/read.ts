import type { Job, JobKey } from '@waybill/core';
import type { Base } from './base.ts';
import type { Item, Key } from './items.ts';
import { jobKey } from './keys.ts';
import { fromItem, isGone } from './rows.ts';
import { joinSides, sideKeysOf } from './side-items.ts';

/** Rows as they stand in the table, without their large fields; what has expired is not there any more. */
export async function readRows(
  base: Base,
  keys: readonly Key[],
  { strong = true } = {},
): Promise<(Item | undefined)[]> {
  const items = await base.db.getAll(keys, { strong });
  const staged = new Set(items.flatMap((item) => (item && 'bid' in item ? [item['bid'] as string] : [])));
  if (staged.size === 0) return items.map((item) => seen(base, item));
  // A group that was committed is there, whether or not its maker lived to finish it.
  let isFinished = false;
  for (const batch of staged) isFinished = (await base.finishBatch(batch)) || isFinished;
  const again = isFinished ? await base.db.getAll(keys) : items;
  return again.map((item) => (item && 'bid' in item ? undefined : seen(base, item)));
}

const seen = ({ settings }: Base, item: Item | undefined): Item | undefined =>
  item && !isGone(item, settings.clock.now()) ? item : undefined;

/** Rows as jobs, with their large fields. */
export async function readJobs(base: Base, keys: readonly JobKey[]): Promise<(Job | null)[]> {
  const items = await readRows(
    base,
    keys.map(({ tenant, id }) => jobKey(tenant, id)),
  );
  return toJobs(base, items);
}

export async function toJobs(base: Base, rows: readonly (Item | undefined)[]): Promise<(Job | null)[]> {
  const items = await withSides(base, rows);
  return items.map((item) => (item ? fromItem(item) : null));
}

/** Rows joined by their large fields, which stand beside them. */
export async function withSides<T extends Item | undefined>(base: Base, rows: readonly T[]): Promise<T[]> {
  const wanted = rows.map((row) => (row ? sideKeysOf(row) : []));
  const flat = wanted.flat();
  const read = flat.length === 0 ? [] : await base.db.getAll(flat);
  const found = new Map(flat.map((key, index) => [key, read[index]]));
  return rows.map((row, index) => {
    if (!row) return row;
    const own = wanted[index]!.map((key) => found.get(key));
    // Between the two reads a row and its large fields may have been replaced together; what is left is the row.
    const sides = own.filter((side) => side !== undefined);
    return joinSides(row, sides) as T;
  });
}

/** Rows as jobs; null in the place of one that cannot be read. */
export async function readableJobs(base: Base, rows: readonly Item[]): Promise<(Job | null)[]> {
  return (await withSides(base, rows)).map((item) => {
    try {
      return fromItem(item);
    } catch {
      return null;
    }
  });
}

export const toJob = async (base: Base, row: Item): Promise<Job> => (await toJobs(base, [row]))[0]!;

/** Those that can be read: one that cannot keeps no other from being told of. */
export const wholeJobs = async (base: Base, rows: readonly Item[]): Promise<Job[]> =>
  (await readableJobs(base, rows)).filter((job) => job !== null);
