/** How long things take on a store: a slow one needs longer leases, or no run would ever come to its end. */
export interface Pace {
  /** So short that a pause of seconds outlasts it. */
  leaseMs: number;
  /** Of the jobs that are settled late on purpose. */
  lateLeaseMs: number;
  /** How often every engine looks for what is due. */
  sweepEveryMs: number;
  /** How long it takes from one fault to the next. */
  faultEveryMs: readonly [least: number, most: number];
  /** Of all producers together, where nobody says otherwise. */
  jobsPerSecond: number;
}

export const QUEUE = 'chaos';
export const LATE_QUEUE = 'chaos-late';

/** How long a lease of this type of job lasts at least. */
export const leaseMsOf = ({ leaseMs, lateLeaseMs }: Pace, type: string): number =>
  type === 'chaos.late' ? lateLeaseMs : leaseMs;
