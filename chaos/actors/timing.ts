/** So short that a pause of seconds outlasts it. */
export const LEASE_MS = 2_500;
export const HEARTBEAT_MS = 800;

/** Of the jobs that are settled late on purpose. */
export const LATE_LEASE_MS = 600;

export const QUEUE = 'chaos';
export const LATE_QUEUE = 'chaos-late';

/** How long a lease of this type of job lasts at least. */
export const leaseMsOf = (type: string): number => (type === 'chaos.late' ? LATE_LEASE_MS : LEASE_MS);
