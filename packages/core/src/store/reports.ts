import type { Progress, Report, RunFence } from '../job/progress.ts';
import type { JobKey } from './query.ts';

/** What a run says of itself; see `progressAfter` for what it makes of what was known. */
export interface ReportRequest {
  tenant: string;
  id: string;
  by: RunFence;
  report: Report;
  now: number;
}

export type ReportAnswer =
  /** `repeated`: a report of this number or a later one was noted before; nothing was written now. */
  | { status: 'noted'; repeated: boolean; progress: Progress }
  /** The run of the fence is not active, or is another's. Nothing was written. */
  | { status: 'lost' };

/** Kept for as long as the job's row. The row itself stays as it is: neither version nor lease moves. */
export interface ReportStore {
  /** Each with its event, as `apply` does it. Several reports of one run happen in the order given. */
  add(requests: readonly ReportRequest[]): Promise<ReportAnswer[]>;
  /** Null where nothing was ever said. */
  get(keys: readonly JobKey[]): Promise<(Progress | null)[]>;
}
