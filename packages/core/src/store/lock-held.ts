import { WaybillError } from '../errors.ts';

export interface WriteOptions {
  /**
   * How long the write may wait for what the transaction of another caller holds: a key, a limit, a row. After that it
   * fails with what `isLockHeld` knows, and nothing was written. Left out: as long as the store has patience. Only stores
   * with `within` look at it.
   */
  lockWaitMs?: number;
}

/** Stands in `details.reason` of the error. */
export const LOCK_HELD = 'lock_held';

/** Whether a write failed only because another transaction holds what it needs. */
export const isLockHeld = (error: unknown): boolean =>
  error instanceof WaybillError && error.details?.['reason'] === LOCK_HELD;
