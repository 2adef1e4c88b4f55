import { type LockRow, type LockTable, type TakeAnswer, taken } from '@waybill/core';
import type { Base } from './base.ts';
import { all, equals, more } from './conditions.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import type { Item } from './items.ts';
import { lockKey } from './keys.ts';

type Take = Parameters<LockTable['take']>[0];
type Release = Parameters<LockTable['release']>[0];

/** Leases that all processes see, other than the lines of one process in locks.ts. */
export const lockTable = (base: Base): LockTable => ({
  take: (request) => take(base, request),
  release: (request) => release(base, request),
});

const rowOf = (item: Item | undefined): LockRow | null =>
  item ? { owner: item['ow'] as string, fence: item['fe'] as number, until: item['un'] as number } : null;

/** A new holder changes the fence; a longer lease and a release change its end. */
const asRead = (row: LockRow | null) => all(equals('fe', row?.fence ?? null), equals('un', row?.until ?? null));

async function take({ db }: Base, request: Take): Promise<TakeAnswer> {
  const { name } = request;
  let row = rowOf(await db.get(lockKey(name)));
  for (let round = 0; round < MOST_TRIES; round++) {
    const after = taken(row, request);
    if (after === null) return { status: 'taken', until: row!.until };
    const item = { ...lockKey(name), ow: after.owner, fe: after.fence, un: after.until };
    const written = await db.tryOnce({ put: item, if: asRead(row) });
    if (written.ok) return { status: 'held', fence: after.fence, until: after.until };
    row = rowOf(written.old);
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The lock ${name}`);
}

async function release({ db }: Base, { name, owner, fence, now }: Release): Promise<boolean> {
  const isHeld = all(equals('ow', owner), equals('fe', fence), more('un', now));
  return db.writeOnce({ update: lockKey(name), change: { set: { un: now } }, if: isHeld });
}
