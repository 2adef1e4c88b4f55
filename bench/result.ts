/** One run of one system on one workload; printed as one line of JSON. */
export interface Result {
  workload: string;
  system: string;
  jobs: number;
  seconds: number;
  p50_ms?: number;
  p95_ms?: number;
  p99_ms?: number;
  rss_mb: number;
  loop_p99_ms?: number;
  settings: string;
}

/** What a workload is given: where to work and how much. */
export interface Task {
  folder: string;
  /** Scales the number of jobs; 1 is the documented size. */
  scale: number;
}

export interface Workload {
  /** In the order in which they run side by side; the last one is the yardstick. */
  systems: Record<string, (task: Task) => Promise<Omit<Result, 'workload' | 'system' | 'rss_mb'>>>;
}

export const perSecond = ({ jobs, seconds }: Pick<Result, 'jobs' | 'seconds'>): number => jobs / seconds;

export function percentile(sorted: readonly number[], share: number): number {
  return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

export const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

export const elapsed = (since: number): number => round((performance.now() - since) / 1_000, 3);
