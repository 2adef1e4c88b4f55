import { type Expectation, isFinished, type Job } from '@waybill/core';
import type { Base } from './base.ts';
import { absent, all, any, atMost, type Condition, equals, exists } from './conditions.ts';
import { inParallel } from './database.ts';
import { type Item, type Key, keyOf } from './items.ts';
import { expireJournal, keepJournal } from './journal-expiry.ts';
import { idempotencyKey, jobKey, uniqueKey } from './keys.ts';
import type { MarkRule } from './mark-trimmer.ts';
import { marksOf, unlessFenced } from './marks.ts';
import { absentIn, changingOf, codeOf, expiryOf, toItem } from './rows.ts';
import { partChange, partNewRow, specKeyOf } from './side-items.ts';
import type { Write } from './writes.ts';

/** Most jobs end with fewer, and are never looked through. The newest ones are how their writers know their own writes. */
export const ROW_MARKS: MarkRule = { most: 24, newest: 8 };

/** To be called with a row as it was just written. */
export const trimLater = (base: Base, row: Item | undefined): void => {
  if (row) base.marks.trimLater(keyOf(row), marksOf(row), ROW_MARKS);
};

/** There is no row of this id, or only what is left of one that has expired. */
export const isFree = (now: number): Condition => any(absent(), atMost('x', Math.floor(now / 1000)));

/** The writes of a new row; those before the last one may be made ahead of it. */
export function rowPut(base: Base, job: Job, mark: string): { sides: Item[]; row: Item } {
  const { row, sides } = partNewRow(toItem(job, base.settings));
  return { sides, row: { ...row, ev: [mark] } };
}

/** The write that makes a row what `job` says. */
export function rowUpdate(base: Base, job: Job, mark: string, condition: Condition, isForgetful = false) {
  const columns = changingOf(job, base.settings);
  const x = expiry(base, job, isForgetful);
  const { row, sides } = partChange(x === null ? columns : { ...columns, x }, toItem(job, base.settings));
  const change = { set: row, remove: absentIn(row), append: { ev: [mark] } };
  const update: Write = { update: jobKey(job.tenant, job.id), change, if: unlessFenced(mark, condition) };
  return { sides, update };
}

/**
 * When a row goes. In a queue that keeps nothing a completed job has expired as it is written: nobody sees it any more,
 * DynamoDB removes it for nothing, and a repetition of the call still knows its own write.
 */
function expiry({ settings }: Base, job: Job, isForgetful: boolean): number | null {
  if (isForgetful && job.state === 'completed' && job.workflowId === null && !job.advancePending) {
    return Math.floor(settings.clock.now() / 1000);
  }
  return expiryOf(job, settings);
}

const KEPT: ReadonlySet<string> = new Set(['er', 're', 'se', 'sr']);

/** Whoever has read the row can leave an early alarm where it is. */
export function claimUpdate(base: Base, before: Item, job: Job, mark: string): Write {
  // Errors and results stay as they are, wherever they stand.
  const { er: _, re: __, ...row } = changingOf(job, base.settings);
  const rings = before['dn'] as number | undefined;
  // An alarm that rings too early costs a look; moving it would cost two writes of the index.
  if (rings !== undefined && job.nextAt !== null && rings <= job.nextAt) row['dn'] = rings;
  const isAsRead = all(equals('vr', before['vr']!), equals('st', before['st']!), equals('hs', before['hs'] ?? null));
  return {
    update: jobKey(job.tenant, job.id),
    change: {
      set: row,
      append: { ev: [mark] },
      remove: absentIn(row).filter((name) => !KEPT.has(name)),
    },
    if: unlessFenced(mark, isAsRead),
  };
}

export const fits = (expect: Expectation): Condition =>
  expect.by === 'lease'
    ? all(equals('st', codeOf('active')), equals('rn', expect.run), equals('ck', expect.claimId))
    : all(
        exists(),
        equals('vr', expect.version),
        equals('nx', expect.nextAt),
        equals('hs', expect.holdsSlot ? 1 : null),
      );

/** Large fields go first: a row never points to what is not there. */
export async function writeSides(base: Base, sides: readonly Item[]): Promise<void> {
  await inParallel(sides, (put) => base.db.write({ put }));
}

/** What belongs to a job without being part of its row: it goes when the row goes. */
function companionsOf(base: Base, job: Job): Key[] {
  const spec = specKeyOf(job, toItem(job, base.settings));
  return [
    ...(spec ? [spec] : []),
    ...(job.idempotencyKey === null ? [] : [idempotencyKey(job.tenant, job.idempotencyKey)]),
    ...(job.uniqueKey === null ? [] : [uniqueKey(job.tenant, job.uniqueKey)]),
  ];
}

/** After the row: should this be lost, a little is kept for nothing. */
export async function expireCompanions(base: Base, job: Job, isForgetful = false): Promise<void> {
  const x = expiry(base, job, isForgetful);
  if (x === null) return;
  await inParallel(companionsOf(base, job), (key) =>
    base.db.write({ update: key, change: { set: { x } }, if: isOf(key, job) }),
  );
  await expireJournal(base, job, x);
}

/** Before the row: a job that lives shall not lose what belongs to it. */
export async function keepCompanions(base: Base, job: Job): Promise<void> {
  if (isFinished(job.state)) return;
  await inParallel(companionsOf(base, job), (key) =>
    base.db.write({ update: key, change: { remove: ['x'] }, if: isOf(key, job) }),
  );
  await keepJournal(base, job);
}

/** A key may have gone on to another job. */
const isOf = (key: Key, job: Job): Condition => (key.sk === '-' ? equals('j', job.id) : exists());
