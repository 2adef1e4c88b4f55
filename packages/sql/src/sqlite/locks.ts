import { type LockRow, type TakeAnswer, taken } from '@waybill/core';
import type { Input } from './protocol.ts';
import type { Session } from './session.ts';

/** The transaction keeps other processes from writing between the read and the write. */
export function takeLock({ sql }: Session, request: Input<'takeLock'>): TakeAnswer {
  const { name } = request;
  const cells = sql['lock-get'].get<[owner: string, fence: number, until: number]>(name);
  const row: LockRow | null = cells ? { owner: cells[0], fence: cells[1], until: cells[2] } : null;
  const after = taken(row, request);
  if (after === null) return { status: 'taken', until: row!.until };
  sql['lock-put'].run(name, after.owner, after.fence, after.until);
  return { status: 'held', fence: after.fence, until: after.until };
}

export const releaseLock = ({ sql }: Session, { name, owner, fence, now }: Input<'releaseLock'>): boolean =>
  sql['lock-release'].run(name, owner, fence, now).changes !== 0;
