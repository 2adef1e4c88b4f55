import { checkPrintable } from '../check.ts';
import type { Clock } from '../clock.ts';
import { invalidField } from '../errors.ts';

export interface TakeRequest {
  name: string;
  /** The process that works under the lock. Two processes need two names. */
  owner: string;
  leaseMs: number;
  /**
   * The end of another owner's lease, where this caller has seen it stay the same for as long as a lease lasts. That owner is
   * gone, because it would have prolonged its lease. The end may be far ahead: the clock that it was written by may have been.
   */
  staleUntil?: number;
}

export type TakeAnswer =
  /** This owner holds the lock until then, unless it takes it again before. */
  | { status: 'held'; fence: number; until: number }
  /** Another owner holds it, until then at least. */
  | { status: 'taken'; until: number };

export interface ReleaseRequest {
  name: string;
  owner: string;
  fence: number;
}

/**
 * A named lease, for what one server at a time does. The fence is a number that grows with each new holder and never
 * restarts, since the row of a lock is never removed. A holder whose lease has ended without its knowledge has a lower
 * fence than the one after it, so what it writes late can be refused. Names are not a tenant's: the engine chooses them.
 */
export interface LockStore {
  /**
   * Takes the lock if it is free or its lease has ended. An owner that holds it prolongs its lease and keeps the fence, so
   * after an unknown outcome the same call may be made again. A lease never becomes shorter.
   */
  take(request: TakeRequest): Promise<TakeAnswer>;
  /** Gives the lock back; false when this owner with this fence does not hold it any more. */
  release(request: ReleaseRequest): Promise<boolean>;
}

export type TakeInput = Omit<TakeRequest, 'leaseMs'> & { until: number; now: number };

/** What a database does for `lockStore`. A lock whose `until` is not later than `now`, or is `staleUntil`, is free. */
export interface LockTable {
  take(request: TakeInput): Promise<TakeAnswer>;
  release(request: ReleaseRequest & { now: number }): Promise<boolean>;
}

/** What a lock is to a database. */
export interface LockRow {
  owner: string;
  fence: number;
  until: number;
}

/** The row after this owner has taken the lock; null: another one holds it. */
export function taken(row: LockRow | null, { owner, until, now, staleUntil }: TakeInput): LockRow | null {
  const isFree = row === null || row.until <= now || (row.until === staleUntil && row.owner !== owner);
  if (isFree) return { owner, fence: (row?.fence ?? 0) + 1, until };
  return row.owner === owner ? { ...row, until: Math.max(row.until, until) } : null;
}

/** The rules that hold for locks on every database. */
export function lockStore(table: LockTable, clock: Clock): LockStore {
  return {
    take: async ({ name, owner, leaseMs, staleUntil }) => {
      checkHolder(name, owner);
      if (!Number.isSafeInteger(leaseMs) || leaseMs < 1) {
        throw invalidField('leaseMs', `must be a whole number of milliseconds above 0, not ${leaseMs}.`);
      }
      const now = clock.now();
      const stale = staleUntil === undefined ? undefined : { staleUntil };
      return table.take({ name, owner, until: now + leaseMs, now, ...stale });
    },
    release: async ({ name, owner, fence }) => {
      checkHolder(name, owner);
      return table.release({ name, owner, fence, now: clock.now() });
    },
  };
}

function checkHolder(name: string, owner: string): void {
  checkPrintable('name', name);
  checkPrintable('owner', owner);
}
