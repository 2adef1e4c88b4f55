import { createHash } from 'node:crypto';
import type { Job } from '@waybill/core';
import { type Item, type Key, keyOf, sizeOf } from './items.ts';
import { jobPk, sideKey } from './keys.ts';

/** Every write of a row is billed by the whole kilobyte, so a row shall not pass the first one. */
const ROOMY_BYTES = 1000;
/** Together with what never changes a spec may be this large; the rest is for what a run adds to the row. */
const LARGEST_FIXED_BYTES = 730;
/** Moving less than this away saves nothing. */
const SMALLEST_BYTES = 100;

/** Fields that may stand in an item of their own, and the attribute of the row that then says which one. */
const FIELDS = { sp: 'ss', er: 'se', re: 'sr' } as const;
type Field = keyof typeof FIELDS;

export interface Parted {
  row: Item;
  /** To be written before the row that points to them. */
  sides: Item[];
}

/** Named by its content: written twice it is the same item, and no rival can write over it. */
const tagOf = (body: string): string => createHash('sha256').update(body).digest('base64url').slice(0, 10);

const FIXED = ['pk', 'sk', 'q', 'cr', 'ik', 'uk', 'lk', 'wf', 'nd', 'lq', 'sp'];

const fixedPart = (row: Item): Item => Object.fromEntries(Object.entries(row).filter(([name]) => FIXED.includes(name)));

/** Moves the large fields of a new row into items of their own. */
export function partNewRow(row: Item): Parted {
  const parted = sizeOf(fixedPart(row)) > LARGEST_FIXED_BYTES ? moveOut({ row, sides: [] }, 'sp') : { row, sides: [] };
  return partLarge(parted, ROOMY_BYTES);
}

/** The same for the columns that a change writes beside a row's fixed part. */
export function partChange(changing: Item, whole: Item): Parted {
  const { row } = partNewRow({ ...whole });
  const { row: columns, sides } = partLarge(
    { row: { ...changing, pk: whole['pk']! }, sides: [] },
    ROOMY_BYTES - sizeOf(fixedPart(row)),
  );
  const { pk: _, ...rest } = columns;
  return { row: rest, sides };
}

function partLarge(parted: Parted, room: number): Parted {
  let small = parted;
  for (const field of ['re', 'er'] as const) {
    const length = ((small.row[field] as string | undefined) ?? '').length;
    if (sizeOf(small.row) > room && length >= SMALLEST_BYTES) small = moveOut(small, field);
  }
  return small;
}

function moveOut({ row, sides }: Parted, field: Field): Parted {
  const { [field]: body, ...others } = row;
  const tag = tagOf(body as string);
  const side = {
    ...sideKey(row['pk'] as string, field, tag),
    b: body!,
    ...(row['x'] !== undefined && { x: row['x'] }),
  };
  return { row: { ...others, [FIELDS[field]]: tag }, sides: [...sides, side] };
}

/** The items that rows point to. */
export const sideKeysOf = (row: Item): Key[] =>
  (Object.keys(FIELDS) as Field[]).flatMap((field) => {
    const tag = row[FIELDS[field]] as string | undefined;
    return tag === undefined ? [] : [sideKey(row['pk'] as string, field, tag)];
  });

/** Where the spec of a job stands, if it has an item of its own. */
export function specKeyOf(job: Job, row: Item): Key | null {
  const { sides } = partNewRow(row);
  const own = sides.find((side) => keyOf(side).sk.startsWith('Ssp'));
  return own ? { pk: jobPk(job.tenant, job.id), sk: keyOf(own).sk } : null;
}

/** The row with the fields that stand elsewhere. */
export function joinSides(row: Item, sides: readonly Item[]): Item {
  const whole = { ...row };
  for (const side of sides) {
    const field = keyOf(side).sk.slice(1, 3);
    whole[field] = side['b']!;
  }
  return whole;
}
