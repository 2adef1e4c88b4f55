import type { Speaker } from '../job/progress.ts';

/** A heartbeat for one run: lease end becomes `now` + the lease length, but never past the execution timeout. */
export interface ExtendRequest {
  tenant: string;
  id: string;
  by: Speaker;
  /** Length asked for; null: the length granted at the claim. */
  leaseMs: number | null;
  now: number;
}

/** No event is written and the version stays: only `leaseUntil` and `nextAt` move. */
export type ExtendAnswer = { status: 'extended'; leaseUntil: number } | { status: 'lost' };
