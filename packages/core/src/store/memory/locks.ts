import { type LockTable, type TakeAnswer, taken } from '../locks.ts';
import type { MemoryState } from './state.ts';

type Take = Parameters<LockTable['take']>[0];
type Release = Parameters<LockTable['release']>[0];

export function takeLock(state: MemoryState, { name, owner, until, now }: Take): TakeAnswer {
  const row = state.locks.get(name) ?? null;
  const after = taken(row, owner, until, now);
  if (after === null) return { status: 'taken', until: row!.until };
  state.locks.set(name, after);
  return { status: 'held', fence: after.fence, until: after.until };
}

export function releaseLock(state: MemoryState, { name, owner, fence, now }: Release): boolean {
  const row = state.locks.get(name);
  if (!row || row.owner !== owner || row.fence !== fence || row.until <= now) return false;
  state.locks.set(name, { ...row, until: now });
  return true;
}
