import { randomBytes } from 'node:crypto';
import type { AppendRequest, JournalBatch } from '@waybill/core';
import { type Item, type Key, keyOf, number, present, text } from './items.ts';
import { jobPk } from './keys.ts';
import { secondsOf } from './rows.ts';
import type { Settings } from './settings.ts';

/** An item may have 400 KB with all its attributes. The rest is for keys and the names of types. */
export const LARGEST_BODY = 380 * 1024;

/** How far a job's journal has come. Its row carries it, as one short text. */
export interface JournalHead {
  /**
   * Drawn with the first batch of a row, and written into each of its batches. An id may be used again when its job has
   * expired, while batches of the old job still wait for DynamoDB to remove them.
   */
  nonce: string;
  run: number;
  last: number;
  /** Of all runs. */
  weight: number;
}

/** The attribute of a row that carries the head. Changes of the row leave it alone. */
export const HEAD = 'jh';

export const newNonce = (): string => randomBytes(6).toString('base64url');

export const formatHead = ({ nonce, run, last, weight }: JournalHead): string => [nonce, run, last, weight].join('.');

/** Null: no run of the job has said anything. */
export function headIn(row: Item): JournalHead | null {
  const written = text(row, HEAD);
  if (written === null) return null;
  const [nonce, run, last, weight] = written.split('.') as [string, string, string, string];
  return { nonce, run: Number(run), last: Number(last), weight: Number(weight) };
}

const RUN_DIGITS = 10;
const PLACE_DIGITS = 16;
export const JOURNAL_PREFIX = 'j';
/** Sorts behind every batch. */
export const JOURNAL_END = 'j~';

const runSk = (run: number): string => `${JOURNAL_PREFIX}${String(run).padStart(RUN_DIGITS, '0')}`;
/** Of the batch behind this sequence. `BEFORE_ALL` is the least place, so places are counted from it. */
export const batchSk = (run: number, after: number): string =>
  `${runSk(run)}#${String(after + 1).padStart(PLACE_DIGITS, '0')}`;
/** Sorts behind every batch of the run. */
export const endOfRunSk = (run: number): string => `${runSk(run)}~`;

export const batchKeyOf = (tenant: string, id: string, run: number, after: number): Key => ({
  pk: jobPk(tenant, id),
  sk: batchSk(run, after),
});

/** `journalMs` counts from when a batch is stored: DynamoDB removes it for nothing, and must know the moment beforehand. */
export function batchItem(
  { tenant, id, batch, now }: AppendRequest,
  place: { run: number; after: number; nonce: string },
  { retention }: Settings,
): Item {
  const { first, last, firstAt, lastAt, types, body } = batch;
  const isForever = !Number.isFinite(retention.journalMs);
  return present({
    ...batchKeyOf(tenant, id, place.run, place.after),
    ...{ jn: place.nonce, f: first, l: last, t: firstAt, u: lastAt, s: now, ty: types, b: body },
    x: isForever ? null : secondsOf(now + retention.journalMs),
  });
}

export function batchOf(item: Item): JournalBatch {
  const [run, place] = keyOf(item).sk.slice(JOURNAL_PREFIX.length).split('#') as [string, string];
  return {
    ...{ run: Number(run), after: Number(place) - 1 },
    ...{ first: number(item, 'f')!, last: number(item, 'l')! },
    ...{ firstAt: number(item, 't')!, lastAt: number(item, 'u')!, storedAt: number(item, 's')! },
    types: item['ty'] as readonly string[],
    body: item['b'] as Uint8Array,
  };
}
