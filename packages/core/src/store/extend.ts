import type { RunFence } from '../job/progress.ts';

/** A heartbeat for one run: lease end becomes `now` + the lease length, but never past the execution timeout. */
export interface ExtendRequest {
  tenant: string;
  id: string;
  by: RunFence;
  /** Length asked for; null: the length granted at the claim. */
  leaseMs: number | null;
  now: number;
  /** Whether the log shall tell of it, where it makes the lease longer: see `heartbeatEvent`. */
  isTold?: boolean;
}

/** The version stays: only `leaseUntil` and `nextAt` move. */
export type ExtendAnswer = { status: 'extended'; leaseUntil: number } | { status: 'lost' };
