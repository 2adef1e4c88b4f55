import { type LockTable, type TakeAnswer, type TakeInput, taken } from '../locks.ts';
import type { MemoryState } from './state.ts';

type Release = Parameters<LockTable['release']>[0];

export function takeLock(state: MemoryState, request: TakeInput): TakeAnswer {
  const row = state.locks.get(request.name) ?? null;
  const after = taken(row, request);
  if (after === null) return { status: 'taken', until: row!.until };
  state.locks.set(request.name, after);
  return { status: 'held', fence: after.fence, until: after.until };
}

export function releaseLock(state: MemoryState, { name, owner, fence, now }: Release): boolean {
  const row = state.locks.get(name);
  if (!row || row.owner !== owner || row.fence !== fence || row.until <= now) return false;
  state.locks.set(name, { ...row, until: now });
  return true;
}
